from tests.mutants import concerned
from tests.mutants.changes import changes_of
from tests.mutants.equivalent import EQUIVALENT


def test_every_entry_is_still_a_change_of_the_source():
    known = {
        change.key
        for path in concerned.files()
        for change in changes_of(
            path, (concerned.ROOT / path).read_text(encoding="utf-8")
        )
    }
    entries = [entry for keys in EQUIVALENT.values() for entry in keys]
    assert [entry for entry in entries if entry not in known] == []
    assert len(set(entries)) == len(entries)
