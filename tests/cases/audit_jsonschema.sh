# The JSON of getmnt audit, as python3-jsonschema sees it by docs/audit.schema.json.
python3 -c 'import jsonschema' 2>/dev/null || skip "there is no python3-jsonschema: audit_forms reads the JSON by tests/lib/forms.py alone"
echo '20 1 8:1 / / rw - ext4 /dev/mapper/root rw' >table
printf '21 20 8:2 / /a\\012"\xff ro - ext4 /dev/mapper/a ro\n' >>table
printf 'x y z\n/dev/mapper/m /m ext4 defaults 0 2\n' >fstab
judge()
{
	python3 - "$TOP/docs/audit.schema.json" <<'PY'
import json
import sys
import jsonschema
with open(sys.argv[1], encoding="utf-8") as f:
    schema = json.load(f)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
document = json.load(open("out", encoding="utf-8"))
validator.validate(document)
for key in list(document):
    if validator.is_valid({k: v for k, v in document.items() if k != key}) or validator.is_valid({**document, key: object}):
        print(f"{key}: not asked for")
print("valid")
PY
}
for fstab in fstab none; do
	for form in json jsonl; do
		getmnt audit -F table --fstab=$fstab --format=$form >out 2>/dev/null
		echo "$fstab $form: $(judge)"
	done
done
