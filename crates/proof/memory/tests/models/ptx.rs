//! The axioms of PTX except causality (PTX ISA 8.5, 8.10), and the portable model where it differs. Stale reads are
//! from-reads; `init` is the initial value of a place.

use crate::notation::case;

#[test]
fn coherence() {
    case(
        "8.10.1: program order on one place is coherence order",
        "P0@0  a: W.rlx.dev x | b: W.rlx.dev x
         co b->a
         portable ptx: forbidden Coherence",
    );
    case(
        "8.10.1: so is causality between threads",
        "P0@0  a: W.rlx.dev x | b: W.rel.dev y
         P1@1  c: R.acq.dev y | d: W.rlx.dev x
         rf b->c
         co d->a
         portable ptx: forbidden Coherence",
    );
    case(
        "8.9.6: weak writes are ordered where causality orders them",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  c: R.acq.dev y | d: W x
         rf b->c
         portable ptx: allowed
         portable ptx: coherence a->d
         portable ptx: not-coherence d->a",
    );
    case(
        "8.9.6: and nowhere else",
        "P0@0  a: W x
         P1@1  d: W x
         portable ptx: race a-d
         portable ptx: not-coherence a->d, d->a",
    );
    case(
        "8.10.5: a read and a later write of its thread do not contradict coherence (CoRW)",
        "P0@0  a: W.rlx.dev x
         P1@1  b: R.rlx.dev x | c: W.rlx.dev x
         rf a->b
         co c->a
         portable ptx: forbidden Coherence",
    );
}

#[test]
fn coherence_that_reads_imply() {
    case(
        "8.10.6: a write that comes before a read comes before what the read reads",
        "P0@0  a: W.rlx.dev x | b: W.rel.dev y
         P1@1  c: R.acq.dev y | d: R.rlx.dev x
         P2@2  e: W.rlx.dev x
         rf b->c, e->d
         portable ptx: coherence a->e
         portable ptx: not-coherence e->a",
    );
    case(
        "8.10.3: a write that comes after what a read-modify-write reads comes after what it writes",
        "P0@0  u: U.rlx.dev x
         P1@1  a: W.rlx.dev x | b: W.rlx.dev x
         rf a->u.r
         portable ptx: coherence a->u.w, u.w->b
         portable ptx: not-coherence b->u.w",
    );
    case(
        "8.10.3: one that comes before what it writes comes before what it reads",
        "P0@0  u: U.rlx.dev x | e: W.rel.dev z
         P1@1  a: W.rlx.dev x
         P2@2  b: W.rlx.dev x | c: W.rel.dev y
         P3@0  d: R.acq.dev y | f: R.rlx.dev y
         rf a->u.r, c->d, c->f
         co b->u.w
         portable ptx: coherence b->a
         portable ptx: not-coherence a->b",
    );
    case(
        "8.10.3: updates that read from one another stand together, so what is behind the first is behind all",
        "P0@0  a: W.rlx.dev x | b: W.rlx.dev x
         P1@1  u: U.rlx.dev x
         P2@2  v: U.rlx.dev x
         rf a->u.r, u.w->v.r
         portable ptx vulkan rust sc: coherence a->u.w, u.w->v.w, v.w->b",
    );
    case(
        "8.7: a weak write may stand between",
        "P0@0  u: U.rlx.dev x
         P1@1  a: W x
         rf init->u.r
         portable ptx: race u.r-a, u.w-a
         portable ptx: not-coherence u.w->a, a->u.w",
    );
    case(
        "8.7: so may a write that is not within the other's scope",
        "P0@0  u: U.rlx.blk x
         P1@1  a: W.rlx.blk x | b: W.rlx.blk x
         rf a->u.r
         portable ptx: race u.r-a, u.r-b, u.w-a, u.w-b
         portable ptx: not-coherence u.w->b, b->u.w, u.w->a, a->u.w",
    );
}

#[test]
fn fence_sc() {
    case(
        "8.10.2: the order of fence.sc agrees with causality",
        "P0@0  f: F.sc.dev | a: W.rlx.dev x
         P1@1  b: R.rlx.dev x | g: F.sc.dev
         rf a->b
         fsc g->f
         portable ptx: forbidden Fence-SC",
    );
    case(
        "8.9.3: fences within each other's scope have an order, so store buffering is gone",
        "P0@0  a: W.rlx.dev x | f: F.sc.dev | b: R.rlx.dev y
         P1@1  c: W.rlx.dev y | g: F.sc.dev | d: R.rlx.dev x
         rf init->b, init->d
         fsc f->g
         portable ptx: forbidden Causality",
    );
    case(
        "8.9.3: fence.sc of scopes that do not include each other have none",
        "P0@0  a: W.rlx.dev x | f: F.sc.blk | b: R.rlx.dev y
         P1@1  c: W.rlx.dev y | g: F.sc.dev | d: R.rlx.dev x
         rf init->b, init->d
         fsc f->g
         portable ptx: allowed",
    );
    case(
        "8.9.3: fence.acq_rel have none, so store buffering is allowed",
        "P0@0  a: W.rlx.dev x | f: F.ar.dev | b: R.rlx.dev y
         P1@1  c: W.rlx.dev y | g: F.sc.dev | d: R.rlx.dev x
         rf init->b, init->d
         fsc f->g
         portable ptx: allowed",
    );
}

#[test]
fn an_order_of_fences_that_is_the_only_one_left() {
    let clause = "8.9.3 and 8.10.6: the other order would put what was read behind what overwrites it";
    case(
        clause,
        "P0@0  a: W.rlx.dev x | f: F.sc.dev | b: R.rlx.dev y
         P1@1  c: W.rlx.dev y | g: F.sc.dev | d: R.rlx.dev x
         rf init->b, a->d
         portable ptx: causality f->g, f->d",
    );
    case(
        clause,
        "P0@0  e: F.sc.dev | a: W.rlx.dev x | f: F.sc.dev | b: R.rlx.dev y
         P1@1  c: W.rlx.dev y | g: F.sc.dev | d: R.rlx.dev x
         rf init->b, a->d
         portable ptx: causality e->g, f->g",
    );
    case(
        "8.9.3: fence.sc of scopes that do not include each other have no order that is left",
        "P0@0  a: W.rlx.dev x | f: F.sc.blk | b: R.rlx.dev y
         P1@1  c: W.rlx.dev y | g: F.sc.dev | d: R.rlx.dev x
         rf init->b, a->d
         portable ptx: not-causality f->g, g->f",
    );
}

#[test]
fn atomicity() {
    case(
        "8.10.3: no morally strong write between the halves of a read-modify-write",
        "P0@0  u: U.rlx.dev x
         P1@1  a: W.rlx.dev x
         rf init->u.r
         co a->u.w
         portable ptx: forbidden Atomicity",
    );
    case(
        "8.10.3: two of them do not read the same",
        "P0@0  u: U.rlx.dev x
         P1@1  v: U.rlx.dev x
         rf init->u.r, init->v.r
         co u.w->v.w
         portable ptx: forbidden Atomicity",
    );
    case(
        "8.10.3: after the second half anything may come",
        "P0@0  u: U.rlx.dev x
         P1@1  a: W.rlx.dev x
         rf init->u.r
         co u.w->a
         portable ptx: allowed",
    );
    case(
        "8.10.3: a write out of scope may come between",
        "P0@0  u: U.rlx.blk x
         P1@1  v: U.rlx.dev x
         rf init->u.r, init->v.r
         portable ptx: race u.r-v.w, u.w-v.r, u.w-v.w",
    );
}

#[test]
fn sequential_consistency_per_location() {
    case(
        "8.10.5: two strong reads of a thread do not see two writes backwards (CoRR)",
        "P0@0  a: W.rlx.dev x
         P1@1  b: R.rlx.dev x | c: R.rlx.dev x
         rf a->b, init->c
         portable ptx: forbidden SC-per-Location",
    );
    case(
        "8.10.5: a thread does not see what its own write has overwritten (CoWR)",
        "P0@0  a: W.rlx.dev x | b: R.rlx.dev x
         P1@1  c: W.rlx.dev x
         rf c->b
         co c->a
         portable ptx: forbidden Coherence",
    );
    case(
        "8.10.5: a read does not see its own thread's later write",
        "P0@0  a: R.rlx.dev x | b: W.rlx.dev x
         rf b->a
         portable ptx: forbidden Coherence",
    );
    case(
        "8.7: weak reads of a thread may see two writes of another one backwards",
        "P0@0  a: W x | b: W x
         P1@1  c: R x | d: R x
         rf b->c, a->d
         portable ptx: race a-c, a-d, b-c, b-d",
    );
    case(
        "8.10.5: other places have no part in it",
        "P0@0  a: W.rlx.dev x | b: W.rlx.dev y
         P1@1  c: R.rlx.dev y | d: R.rlx.dev x
         rf b->c, init->d
         portable ptx: allowed",
    );
}
