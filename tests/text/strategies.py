"""Texts of all kinds."""

from hypothesis import strategies as st

any_text = st.text(
    st.one_of(st.characters(), st.sampled_from(" .,:;'\"`&-()[aBcnt's.1"))
)
