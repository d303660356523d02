"""A page's state in a tab: from the link, from the page, and where the browser's Back leads."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def toy() -> None:
    """A page whose state is a number that runs and one that is only looked at."""
    from dataclasses import dataclass

    import streamlit as st

    from dashboard.page import Page

    @dataclass(frozen=True)
    class Toy:
        run: int = 0
        look: int = 0

    def read(query):
        good = query.get("run", "0").isdigit()
        problems = [] if good else ["The link's *run* is no number; left out."]
        return Toy(int(query.get("run", 0)) if good else 0, int(query.get("look", 0))), problems

    def write(state):
        return {"run": str(state.run)} | ({"look": str(state.look)} if state.look else {})

    page = Page("toy", read, write, looked=("look",), moved=lambda state: st.session_state.update(moved=state.look))
    state = page.state()
    if st.button("more"):
        page.begin(Toy(state.run + 1))
        st.rerun()
    if st.button("look"):
        page.look_at(look=state.look + 1)
    else:
        page.show(page.shown)
    st.text(f"{state.run} {page.version}")
    if st.button("leave"):
        st.session_state["page"] = "another"


def said(app: AppTest) -> str:
    assert not app.exception
    return app.text[0].value


def press(app: AppTest, name: str) -> AppTest:
    next(button for button in app.button if button.label == name).click()
    return app.run()


def at(app: AppTest, **query: str) -> AppTest:
    """The browser shows another address, as after Back."""
    for name in list(app.query_params):
        del app.query_params[name]
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def opened(**query: str) -> AppTest:
    app = AppTest.from_function(toy)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def address(app: AppTest) -> dict[str, str]:
    return {name: value[0] if isinstance(value, list) else value for name, value in app.query_params.items()}


def test_a_link_opens_its_state_and_a_bad_one_says_so() -> None:
    app = opened(run="4")
    assert said(app) == "4 0" and not app.warning
    app = opened(run="x")
    assert said(app) == "0 0" and app.warning[0].value == r"The link's \*run\* is no number; left out." and address(app) == {"run": "0"}
    assert not press(app, "more").warning


def test_back_leads_to_what_ran_before_and_begins_it_anew() -> None:
    app = opened(run="1")
    press(app, "more")
    assert said(app) == "2 1" and address(app) == {"run": "2"}
    app.run()  # the browser has taken up the address
    at(app, run="1")
    assert said(app) == "1 2" and app.session_state["toy_token"] is None and address(app) == {"run": "1"}
    at(app, run="2")
    assert said(app) == "2 3"


def test_a_click_that_overtakes_the_address_is_no_step_back() -> None:
    app = opened(run="1")
    press(app, "more")
    at(app, run="1")  # at once, before any run has come with the new address
    assert said(app) == "2 1"
    press(app, "more")
    assert said(app) == "3 2"


def test_back_to_another_look_lets_the_run_go_on() -> None:
    app = opened(run="1")
    app.run()
    press(app, "look")
    app.run()
    press(app, "look")
    assert address(app) == {"run": "1", "look": "2"}
    app.run()
    at(app, run="1", look="1")
    assert said(app) == "1 0" and app.session_state["moved"] == 1 and app.session_state["toy_shown"].look == 1


def test_the_bare_address_stays_and_another_page_keeps_the_state() -> None:
    app = opened()
    press(app, "more")
    app.run()
    at(app)  # Back to where the page was opened
    assert said(app) == "1 1" and address(app) == {}
    press(app, "more")
    assert said(app) == "2 2" and address(app) == {"run": "2"}
    app.run()
    press(app, "leave")
    at(app)  # the menu of pages leads back without a word
    assert said(app) == "2 2" and address(app) == {"run": "2"}
