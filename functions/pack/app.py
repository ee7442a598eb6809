"""E1, E6: sessions, and the frozen pack of each."""

from __future__ import annotations

from neve import wiring
from neve.http.answers.opening import opening_answer
from neve.http.answers.pack import held, pack_answer
from neve.http.operations import Nothing
from neve.http.router import Answer, Call, Router, fitting
from neve.http.schemas.pack import packs as p
from neve.http.schemas.sessions import sessions as s
from neve.usecases.ask.pack.read_pack import preview_pack, read_pack
from neve.usecases.ask.sessions.read_sessions import get_session, list_sessions
from neve.usecases.core.pack.versions import pack_diff, pack_versions

router = Router("pack", wiring.prepare())
handler = router.handle

router.on(s.OPEN_SESSION)(opening_answer)
router.on(s.READ_SESSION)(lambda call: Answer(body=s.SessionOut.of(get_session(call.session))))


@router.on(s.LIST_SESSIONS)
def sessions(call: Call[s.SessionsQuery, Nothing]) -> Answer:
    user, wanted = call.user, call.query.metadata
    return Answer(body=fitting(call.query, lambda n, at: s.SessionPage.of(*list_sessions(user, n, at, wanted))))


@router.on(p.READ_PACK)
def pack(call: Call[p.PackQuery, Nothing]) -> Answer:
    q, tags = call.query, call.if_none_match
    if q.session_id is None:
        return pack_answer(preview_pack(call.user), q.format, tags)
    view = read_pack(call.user.of_session(q.session_id), version=q.version, holds=held(tags, q.format))
    return pack_answer(view, q.format, tags)


@router.on(p.PACK_VERSIONS)
def versions(call: Call[p.PackVersionsQuery, Nothing]) -> Answer:
    q, session = call.query, call.user.of_session(call.query.session_id)
    return Answer(body=fitting(q, lambda n, at: p.PackVersions.listing(*pack_versions(session, n, at))))


@router.on(p.PACK_DIFF)
def diff(call: Call[p.PackDiffQuery, Nothing]) -> Answer:
    q = call.query
    return Answer(body=p.PackDiffOut.of(pack_diff(call.user.of_session(q.session_id), q.from_, q.to)))
