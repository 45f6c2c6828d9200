from benchmarks.engine import Job
from benchmarks.engine.time_left import TimeLeft


def job(method, data_set, size, expected=None):
    return Job("part", method, data_set, 0, dict, size=size, expected=expected)


def test_the_estimate_is_that_of_the_same_data_or_in_proportion_to_the_largest():
    left = TimeLeft()
    assert left.estimate([]) == 0
    left.add(job("a", "small", 10), 5.0)
    left.add(job("a", "large", 100), 10.0)
    left.add(job("a", "large", 100), 20.0)
    assert left.estimate([job("a", "large", 100)] * 2) == 30
    assert left.estimate([job("a", "medium", 20)]) == 3  # 15 s for size 100
    assert left.estimate([job("a", "small", 10), job("b", "small", 10)]) is None


def test_before_the_first_measurement_the_job_says_how_long_it_takes():
    left = TimeLeft()
    assert left.estimate([job("a", "small", 10, 7.0), job("b", "small", 10, 1.0)]) == 8
    left.add(job("a", "small", 10), 5.0)
    assert left.estimate([job("a", "small", 10, 7.0), job("b", "small", 10, 1.0)]) == 6
