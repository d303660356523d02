"""DDCL Lab: `streamlit run app.py`.

Streamlit's command finds `app` below by reading this file, serves it, and runs this same file as the page's script;
the two are told apart by the script's context.
"""

from __future__ import annotations

from streamlit.runtime.scriptrunner import get_script_run_ctx

if get_script_run_ctx(suppress_warning=True) is None:
    from streamlit.starlette import App

    from dashboard.server import lifespan, routes

    app = App(__file__, routes=routes(), lifespan=lifespan)
    if __name__ == "__main__":  # python app.py
        app.run()
else:
    from dashboard.shell import show

    show()
