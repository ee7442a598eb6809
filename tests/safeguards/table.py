"""What keeps a stage up, line by line: how the code would look without it, and who notices."""

from __future__ import annotations

from dataclasses import dataclass

TEMPLATE = "template.yaml"
WORKER = "layers/core/neve/worker.py"
AUTHORIZER = "functions/authorizer/app.py"
POSTPONED = "tests/unit/observe/test_postponed_messages.py"
SOURCES = "tests/infra/test_sources.py"
KEYS = "tests/unit/http/test_http_authorizer.py"
API = "tests/infra/test_api.py"


@dataclass(frozen=True, slots=True)
class Safeguard:
    """``keeps``: what it is there for. ``has`` in ``file`` becomes ``without``: all of it, wherever it stands behind
    the first ``after``. ``test``: what fails then."""

    keeps: str
    file: str
    has: str
    without: str
    test: str
    after: str = ""


ALLOW = "      RecursiveLoop: Allow\n"
ACCESS_DENIED = "        ACCESS_DENIED:\n          StatusCode: 401\n"
DOWN = "        AUTHORIZER_CONFIGURATION_ERROR:\n          StatusCode: 503\n"

POSTPONED_MESSAGES = (
    Safeguard(
        "a busy session's message goes round more often than Lambda lets a loop",
        *(TEMPLATE, ALLOW, "", f"{POSTPONED}::test_however_often_it_is_put_off_its_job_ends[compact]"),
        after="  CompactFunction:",
    ),
    Safeguard(
        "so does that of extract",
        *(TEMPLATE, ALLOW, "", f"{POSTPONED}::test_however_often_it_is_put_off_its_job_ends[extract]"),
        after="  ExtractFunction:",
    ),
    Safeguard(
        "who may send to its own source says so",
        *(TEMPLATE, ALLOW, "", f"{SOURCES}::test_who_may_send_to_its_own_source_may_go_round_and_nobody_else"),
        after="  LibrarianFunction:",
    ),
    Safeguard(
        "a message whose session stands still has failed after 15 minutes",
        *(WORKER, "now - since > NO_PROGRESS_FOR", "now - since > 2 * NO_PROGRESS_FOR"),
        f"{POSTPONED}::test_one_whose_session_stands_for_a_quarter_of_an_hour_has_failed",
    ),
    Safeguard(
        "progress restarts that time",
        *(WORKER, 'if before.get("at") == place else now', "if before else now"),
        f"{POSTPONED}::test_progress_of_the_session_restarts_the_time",
    ),
    Safeguard(
        "a worker pauses before it sends a message again",
        *(WORKER, "            ports.clock.sleep(POSTPONED_S)\n", ""),
        f"{POSTPONED}::test_every_worker_pauses_before_it_sends_again",
    ),
    Safeguard(
        "a loop that Lambda ends is an alarm",
        *("infra/observability.yaml", "MetricName: RecursiveInvocationsDropped", "MetricName: Duration"),
        "tests/infra/test_alarms.py::test_no_loop_ends_unnoticed_and_no_asynchronous_event_is_dropped_unnoticed",
    ),
)
WRONG_KEY = (
    Safeguard(
        "a wrong key is an answer of the authorizer, no failure",
        AUTHORIZER,
        '        return {"principalId": NOBODY, "policyDocument": _policy("Deny", f"{api}/{stage}/*")}\n',
        '        raise RuntimeError("Unauthorized")\n',
        f"{KEYS}::test_wrong_keys_never_move_an_alarm_of_a_deployment",
    ),
    Safeguard(
        "the principal of a wrong key is constant",
        *(AUTHORIZER, '"principalId": NOBODY', '"principalId": headers.get("authorization")'),
        f"{KEYS}::test_everything_else_is_unauthorized",
    ),
    Safeguard(
        "the Deny is of the whole stage, which the gateway caches",
        *(AUTHORIZER, '_policy("Deny", f"{api}/{stage}/*")', '_policy("Deny", event["methodArn"])'),
        f"{KEYS}::test_everything_else_is_unauthorized",
    ),
    Safeguard(
        "a Deny is a 401 that names key and stage",
        *(TEMPLATE, ACCESS_DENIED, ACCESS_DENIED.replace("401", "403")),
        f"{API}::test_what_the_authorizer_denies_is_a_401_and_its_failure_says_when_to_come_again",
    ),
    Safeguard(
        "a key is refused on another stage of the API",
        *(AUTHORIZER, " if stage == wiring.stage() else None", ""),
        f"{KEYS}::test_a_good_key_is_refused_in_another_stage_of_the_api",
    ),
)
FIRST_DEPLOYMENT = (
    Safeguard(
        "a function is made when its role may write traces",
        *(TEMPLATE, "DependsOn: [RecallPolicy, TracingPolicy]", "DependsOn: RecallPolicy"),
        "tests/infra/test_functions.py::test_a_function_is_made_when_its_role_may_all_that_it_needs",
    ),
    Safeguard(
        "what a failed first deployment has made goes with it",
        *("infra/data.yaml", "DeletionPolicy: RetainExceptOnCreate", "DeletionPolicy: Retain"),
        "tests/infra/test_data_stack.py::test_a_first_deployment_that_fails_leaves_nothing_behind",
    ),
)
TIME = (
    Safeguard(
        "a longer answer is cut off by its tokens, and not by its time",
        *("layers/core/neve/observers/prompted.py", "min(room, writable_tokens(within_s))", "room"),
        "tests/unit/observers/test_prompted_observer.py"
        "::test_an_answer_is_cut_off_by_its_tokens_before_its_time_is_over",
    ),
    Safeguard(
        "the timeout of a worker is the one that the code reckons with",
        *(TEMPLATE, "      Timeout: 300\n", "      Timeout: 120\n"),
        f"{SOURCES}::test_the_time_of_a_worker_that_observes_is_what_the_code_reckons_with",
        after="  CompactFunction:",
    ),
    Safeguard(
        "a lease outlasts its worker",
        *(
            "layers/core/neve/domain/observe/time_limits.py",
            "ANSWERS_LEASE_S = WORKER_S + 10",
            "ANSWERS_LEASE_S = WORKER_S - 10",
        ),
        f"{SOURCES}::test_the_time_of_a_worker_that_observes_is_what_the_code_reckons_with",
    ),
    Safeguard(
        "no pass begins without time for one answer",
        "layers/core/neve/usecases/work/observe/observe_session.py",
        "if self.seconds_left() < self.scope.ports.observer.longest_s:",
        "if self.seconds_left() < 0:",
        "tests/unit/observe/test_room.py::test_a_worker_without_time_for_an_answer_does_not_begin",
    ),
    Safeguard(
        "the time that is left is the context's",
        *(WORKER, "seconds_left = time_left_of(context)", "seconds_left = time_left_of(None)"),
        f"{POSTPONED}::test_one_that_workers_without_time_pass_on_is_not_lost",
    ),
    Safeguard(
        "a job that has no time is queued again",
        *(WORKER, "if report.left_off_at is not None:", "if False:"),
        f"{POSTPONED}::test_a_worker_without_time_hands_its_job_on",
    ),
    Safeguard(
        "a model's call ends within what is left, less the commit",
        *("layers/core/neve/observers/prompted.py", "min(ANSWER_S, given.seconds_left() - COMMIT_S)", "ANSWER_S"),
        "tests/unit/observers/test_prompted_observer.py"
        "::test_an_answer_over_budget_is_trimmed_at_once_when_there_is_no_time_for_another",
    ),
    Safeguard(
        "all attempts of a call share its time",
        "layers/core/neve/adapters/models/anthropic_model.py",
        *("min(self._timeout_s, within_s)", "3 * self._timeout_s"),
        "tests/unit/observers/test_anthropic_model.py::test_all_attempts_of_a_call_share_its_time",
    ),
)
PAGES = (
    Safeguard(
        "a page ends at about 4 MB of the answer",
        *("layers/core/neve/http/pages.py", "MAX_BYTES = 4 * 1024 * 1024", "MAX_BYTES = 40 * 1024 * 1024"),
        "tests/unit/http/test_pages.py::test_a_log_of_the_largest_events_is_read_to_its_end",
    ),
    Safeguard(
        "its size is that of JSON within JSON",
        "layers/core/neve/http/pages.py",
        'return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass"))',
        "return len(text)",
        "tests/unit/http/test_pages.py::test_a_log_of_the_largest_events_is_read_to_its_end[quotes]",
    ),
    Safeguard(
        "a request over 6 MB does not reach its function",
        *("local/functions.py", "        check_event(event)\n", ""),
        "tests/unit/local/test_local_gateway.py::test_lambda_takes_six_megabytes_of_a_request_and_gives_as_many",
    ),
)
AUTHORIZER_DOWN = (
    Safeguard(
        "an authorizer without its table is a 503",
        *(TEMPLATE, DOWN, DOWN.replace("503", "500")),
        f"{KEYS}::test_an_authorizer_whose_table_is_down_says_when_to_come_again",
    ),
    Safeguard(
        "which says when to come again",
        *(TEMPLATE, "              Retry-After: \"'2'\"\n", ""),
        f"{API}::test_what_the_authorizer_denies_is_a_401_and_its_failure_says_when_to_come_again",
        after="        AUTHORIZER_CONFIGURATION_ERROR:",
    ),
    Safeguard(
        "and never a wrong key",
        *(
            "layers/core/neve/http/api_keys.py",
            "            return known\n        raise\n",
            "            return known\n",
        ),
        f"{KEYS}::test_outage_of_the_store",
    ),
)
DEPLOYMENT = (
    Safeguard(
        "the check before a deployment runs once a stack",
        *(TEMPLATE, "      AutoPublishCodeSha256: !Ref BuildSha\n"),
        "      AutoPublishCodeSha256: !Ref BuildSha\n"
        "      DeploymentPreference:\n        Hooks: {PreTraffic: !Ref PreTrafficFunction}\n",
        "tests/infra/test_functions.py::test_the_check_runs_once_a_stack",
        after="  AdminFunction:",
    ),
    Safeguard(
        "every function's traffic moves behind the alarms",
        *(TEMPLATE, "      Timeout: 300\n", "      Timeout: 300\n      DeploymentPreference: {Enabled: false}\n"),
        "tests/infra/test_functions.py::test_the_traffic_of_every_function_moves_behind_the_alarms",
        after="  LibrarianFunction:",
    ),
    Safeguard(
        "a check that an account has no room for is asked again",
        *("layers/core/neve/adapters/aws/lambda_deployment.py", "ATTEMPTS = 6", "ATTEMPTS = 1"),
        "tests/unit/background/test_probe_versions.py::test_a_version_that_an_account_has_no_room_for_is_asked_again",
    ),
    Safeguard(
        "there is no second stage",
        *(TEMPLATE, '      OpenApiVersion: "2.0"\n', ""),
        f"{API}::test_there_is_one_stage_and_no_other",
    ),
)
SAFEGUARDS = {
    "postponed messages": POSTPONED_MESSAGES,
    "a wrong key": WRONG_KEY,
    "first deployment": FIRST_DEPLOYMENT,
    "time": TIME,
    "pages": PAGES,
    "an authorizer whose table is down": AUTHORIZER_DOWN,
    "deployment": DEPLOYMENT,
}
