"""What stand-ins do otherwise than the service that they stand for, test by test, with the reason.

Such a test is expected to fail on that engine, and it fails the run when it passes: a deviation that is gone is news.
``RACES`` are those that do not show every time, so a pass of theirs means nothing. ``NOT_RUN`` are those that would
take minutes there, or hang; another engine runs them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

LIVES_IN_THE_PROCESS = "moto's memory is the process's own: what was written dies with the writer"
COPIES_ITS_TABLES = "moto copies all its rows for every transaction, which takes minutes here"
UNSAFE_FOR_THREADS = "moto loses updates of concurrent writers and breaks off a read beside a write"
NO_SIGNATURES = "moto takes an upload whatever was signed, and when"

MEMORY = "a dict dies with its writer"
NO_CHAINS = "nothing counts invocations in the simulation"

DEVIATIONS: Mapping[tuple[str, str], str] = {
    ("memory", "test_a_killed_writer_loses_nothing_acknowledged"): MEMORY,
    ("memory", "test_a_message_carries_the_chain_that_it_was_sent_in"): NO_CHAINS,
    ("memory", "test_a_killed_sender_loses_nothing_acknowledged"): MEMORY,
    ("memory", "test_a_killed_writer_leaves_only_whole_objects"): MEMORY,
    # table; unseen by the suite: moto ignores request tokens and takes a transaction above 4 MB
    ("moto", "test_the_largest_item_and_the_largest_transaction_fit"): "an item may not reach 400 KB",
    ("moto", "test_a_killed_writer_loses_nothing_acknowledged"): LIVES_IN_THE_PROCESS,
    # queue
    (
        "elasticmq",
        "test_a_released_message_keeps_its_place_in_the_group",
    ): "a group goes on with a message that came back while a later one is in flight; the order is kept",
    ("moto", "test_a_message_carries_the_chain_that_it_was_sent_in"): "a batch loses the trace headers of its messages",
    ("moto", "test_a_stale_receipt_deletes_nothing"): "a stale receipt deletes",
    ("moto", "test_what_is_never_handled_ends_as_a_dead_letter"): "a dead letter does not say where it comes from",
    ("moto", "test_a_dedup_id_is_taken_once_also_after_deletion"): "a deduplication id is forgotten with its message",
    ("moto", "test_a_killed_sender_loses_nothing_acknowledged"): LIVES_IN_THE_PROCESS,
    # objects
    ("s3mock", "test_every_key_has_its_own_object"): "a part of a key is a file's name: above 255 bytes it answers 500",
    ("s3mock", "test_a_listing_is_in_the_order_of_utf8_bytes"): "listed in the order of UTF-16, as Java compares text",
    ("moto", "test_an_upload_of_another_type_is_refused"): NO_SIGNATURES,
    ("moto", "test_an_upload_of_another_size_is_refused[moto-3-False]"): NO_SIGNATURES,
    ("moto", "test_an_upload_of_another_size_is_refused[moto-5-False]"): NO_SIGNATURES,
    ("moto", "test_an_upload_may_not_replace"): NO_SIGNATURES,
    ("moto", "test_an_upload_after_the_expiry_is_refused"): NO_SIGNATURES,
    ("moto", "test_an_upload_with_a_changed_signature_is_refused"): NO_SIGNATURES,
    ("moto", "test_a_download_after_the_expiry_is_refused"): NO_SIGNATURES,
    ("moto", "test_a_download_address_is_for_one_object"): NO_SIGNATURES,
    ("moto", "test_a_killed_writer_leaves_only_whole_objects"): LIVES_IN_THE_PROCESS,
}
"""By engine and test: the name of the function, or the name with its parameters for some of them."""

RACES: Mapping[tuple[str, str], str] = {
    (
        "s3mock",
        "test_readers_see_whole_objects_while_writers_replace_and_delete_them",
    ): "a listing shows the temporary file of an object that is being replaced",
    (
        "moto",
        "test_readers_see_whole_objects_while_writers_replace_and_delete_them",
    ): "an object that is replaced while it is read breaks the reader",
    ("moto", "test_one_of_eight_concurrent_creators_wins"): "looks and writes apart: two creators may get through",
}

NOT_RUN: Mapping[tuple[str, str], str] = {
    ("moto", "test_get_many_takes_any_number_of_keys_and_duplicates"): COPIES_ITS_TABLES,
    ("moto", "test_a_table_is_a_dict_with_transactions"): COPIES_ITS_TABLES,
    ("moto", "test_eight_threads_incrementing_one_row_lose_nothing"): UNSAFE_FOR_THREADS,
    ("moto", "test_one_of_eight_concurrent_creators_wins"): UNSAFE_FOR_THREADS,
    ("moto", "test_rows_are_linearizable"): UNSAFE_FOR_THREADS,
}


def mark_of(engine: str, function: str, name: str) -> pytest.MarkDecorator | None:
    """The mark for a test that the engine is known to fail. ``name`` is the function's with its parameters."""
    for known, strict in ((DEVIATIONS, True), (RACES, False)):
        if reason := known.get((engine, name)) or known.get((engine, function)):
            return pytest.mark.xfail(reason=reason, strict=strict)
    if reason := NOT_RUN.get((engine, function)):
        return pytest.mark.skip(reason=f"{engine}: {reason}")
    return None
