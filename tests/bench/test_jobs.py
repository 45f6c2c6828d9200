import pytest

from lann.bench.jobs import Job, run_jobs


def refuse():
    raise ValueError("I will\nnot.")


def test_each_is_announced_and_told_and_one_that_fails_does_not_stop_the_others():
    failures = {}
    jobs = [Job("a", "x", lambda: "well"), Job("b", "x", refuse), Job("c", "y", lambda: "well, too")]
    steps = list(run_jobs(jobs, failures))
    assert [step.what for step in steps] == ["a on x", "b on x", "c on y", "done"]
    assert [(step.done, step.total) for step in steps] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    said = [step.said.rpartition(" (")[0] for step in steps]
    assert said == ["", "a on x: well", "b on x: failed: I will not.", "c on y: well, too"]
    assert failures == {("b", "x"): "I will not."}


def test_ctrl_c_is_no_failure():
    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(run_jobs([Job("a", "x", interrupt)], {}))
