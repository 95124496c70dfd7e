//! Sequential consistency, and the textbook's counting model.

use crate::notation::case;

#[test]
fn one_interleaving_explains_all() {
    case(
        "acyclic(po | rf | co | fr): store buffering",
        "P0@0  a: W x | b: R y
         P1@1  c: W y | d: R x
         rf init->b, init->d
         sc: forbidden interleaving
         unordered: allowed",
    );
    case(
        "acyclic(po | rf | co | fr): load buffering",
        "P0@0  a: R x | b: W y
         P1@1  c: R y | d: W x
         rf b->c, d->a
         sc: forbidden interleaving
         unordered: allowed",
    );
    case(
        "acyclic(po | rf | co | fr): publication",
        "P0@0  a: W x | b: W y
         P1@1  c: R y | d: R x
         rf b->c, init->d
         sc: forbidden interleaving
         unordered: allowed",
    );
    case(
        "acyclic(po | rf | co | fr): two orders of writes (2+2W)",
        "P0@0  a: W x | b: W y
         P1@1  c: W y | d: W x
         co b->c, d->a
         sc: forbidden interleaving
         unordered: allowed",
    );
    case(
        "acyclic(po | rf | co | fr): a write between two writes and a read (R)",
        "P0@0  a: W x | b: W y
         P1@1  c: W y | d: R x
         rf init->d
         co b->c
         sc: forbidden interleaving",
    );
    case(
        "acyclic(po | rf | co | fr): writes and reads of two threads that others see differently (IRIW)",
        "P0@0  a: W x
         P1@1  b: W y
         P2@2  c: R x | d: R y
         P3@3  e: R y | f: R x
         rf a->c, init->d, b->e, init->f
         sc: forbidden interleaving",
    );
    case(
        "rmw & (fr ; co) is empty",
        "P0@0  u: U.rlx.dev x
         P1@1  v: U.rlx.dev x
         rf init->u.r, init->v.r
         co u.w->v.w
         sc unordered: forbidden interleaving",
    );
    case(
        "rmw & (fr ; co) is empty: for plain writes too",
        "P0@0  u: U.rlx.dev x
         P1@1  a: W x
         rf init->u.r
         co a->u.w
         sc unordered: forbidden interleaving",
    );
    case(
        "an interleaving there is",
        "P0@0  a: W x | b: R y
         P1@1  c: W y | d: R x
         rf init->b, a->d
         sc unordered: allowed
         sc: ordered a->b, b->c, a->d
         sc: not-ordered b->a, c->b, d->a, d->c",
    );
    case(
        "an interleaving of fences alone",
        "P0@0  f: F.sc.dev | g: F.sc.dev
         sc unordered: allowed
         sc: ordered f->g
         sc: not-ordered g->f",
    );
    case(
        "a barrier and the system order, too",
        "P0@0  a: W x | f: B.ar.blk
         P1@0  g: B.ar.blk | d: R x
         P2@1  e: R x
         rf init->d, a->e
         bar f->g, g->f
         sc unordered: forbidden interleaving",
    );
    case(
        "launches one after another",
        "P0@0  a: W x
         P1@0  d: R x
         rf init->d
         launch 0->1
         sc unordered: forbidden interleaving",
    );
}

#[test]
fn the_textbook_keeps_what_fences_keep() {
    let read = |writer: &str, reader: &str, verdict: &str, clause: &str| {
        case(clause, &format!("{writer}\n{reader}\nrf b->c, init->d\nunordered: {verdict}"));
    };
    let kept = "P1@1 c: R y | g: F.acq.dev | d: R x";
    let (seen, stale) = ("forbidden interleaving", "allowed");
    let release = "P0@0 a: W x | f: F.rel.dev | b: W y";
    read(
        release,
        kept,
        seen,
        "a release fence keeps what precedes it before the writes that follow, an acquire fence …",
    );
    read("P0@0 a: W x | f: F.acq.dev | b: W y", kept, stale, "an acquire fence does not keep writes");
    read(release, "P1@1 c: R y | g: F.rel.dev | d: R x", stale, "a release fence does not keep reads");
    read(release, "P1@1 g: F.acq.dev | c: R y | d: R x", stale, "a fence keeps what stands on both sides");
    read("P0@0 a: W x | b: W y | f: F.rel.dev", kept, stale, "of it");
    read("P0@0 a: W x | f: F.sc.dev | b: W y", "P1@1 c: R y | g: F.sc.dev | d: R x", seen, "seq_cst keeps all");
    read("P0@0 a: W x | f: F.ar.blk | b: W y", "P1@1 c: R y | g: F.ar.sg | d: R x", seen, "whatever the scopes");
    read("P0@0 a: W x | b: W.rel.dev y", "P1@1 c: R.acq.dev y | d: R x", seen, "a release write, an acquire read");
    read("P0@0 a: W x | b: W.rlx.dev y", "P1@1 c: R.acq.dev y | d: R x", stale, "a relaxed write keeps nothing");
    read("P0@0 a: W x | b: W.rel.dev y", "P1@1 c: R.rlx.dev y | d: R x", stale, "nor a relaxed read");
    read(
        "P0@0 b: W.rel.dev y | a: W x",
        "P1@1 c: R.acq.dev y | d: R x",
        stale,
        "what follows a release write may come before",
    );
    read("P0@0 a: W x | b: W.rel.dev y", "P1@1 d: R x | c: R.acq.dev y", stale, "what precedes an acquire read, after");
    case(
        "an acquire fence keeps earlier reads before later writes",
        "P0@0  a: R x | f: F.acq.dev | b: W y
         P1@1  c: R y | g: F.acq.dev | d: W x
         rf b->c, d->a
         unordered: forbidden interleaving",
    );
    case(
        "an acquire fence keeps no earlier writes: store buffering",
        "P0@0  a: W x | f: F.acq.dev | b: R y
         P1@1  c: W y | g: F.rel.dev | d: R x
         rf init->b, init->d
         unordered: allowed",
    );
    case(
        "nor do both together",
        "P0@0  a: W x | f: F.ar.dev | b: R y
         P1@1  c: W y | g: F.ar.dev | d: R x
         rf init->b, init->d
         unordered: allowed",
    );
    case(
        "a sequentially consistent fence does",
        "P0@0  a: W x | f: F.sc.dev | b: R y
         P1@1  c: W y | g: F.sc.dev | d: R x
         rf init->b, init->d
         unordered: forbidden interleaving",
    );
    case(
        "accesses of one place stay in order",
        "P0@0  a: W x | d: R x
         rf init->d
         unordered: forbidden interleaving",
    );
    case(
        "a read-modify-write is one step: what precedes its release half precedes its read",
        "P0@0  a: W x | u: U.rel.dev y
         P1@1  v: U.acq.dev z | d: R x
         P2@2  c: R.acq.dev z | e: W y
         rf init->u.r, init->v.r, v.w->c, init->d
         co e->u.w
         unordered: forbidden interleaving",
    );
    case(
        "a read-modify-write is one step: its acquire half keeps its write before what follows",
        "P0@0  u: U.acq.dev x | a: W y
         P1@1  c: R.acq.dev y | d: R x
         rf init->u.r, a->c, init->d
         unordered: forbidden interleaving",
    );
    case(
        "a read-modify-write is one step: a relaxed one keeps nothing else",
        "P0@0  u: U.rlx.dev x | a: W y
         P1@1  c: R.acq.dev y | d: R x
         rf init->u.r, a->c, init->d
         unordered: allowed",
    );
}
