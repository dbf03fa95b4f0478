UUID=aaaaaaaa-2222-3333-4444-555555555555\342\200\213 /tmp/gm/w/fields.x/m/a ext4 defaults 0 0
