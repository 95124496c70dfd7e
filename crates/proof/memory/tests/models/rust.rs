//! C++20's model as Rust uses it.

use crate::notation::case;

#[test]
fn happens_before() {
    case(
        "[intro.races]/10: happens-before has no cycle",
        "P0@0  a: W x | f: F.ar.dev
         P1@1  g: F.ar.dev | b: W y
         ssw a->b, b->a
         rust: forbidden happens-before",
    );
    case(
        "[atomics.order]/2: a release write and an acquire read",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  c: R.acq.dev y | d: R x
         rf b->c, init->d
         rust: forbidden coherence",
    );
    case(
        "[atomics.order]/2: a relaxed write releases nothing",
        "P0@0  a: W x | b: W.rlx.dev y
         P1@1  c: R.acq.dev y | d: R x
         rf b->c, init->d
         rust: race a-d",
    );
    case(
        "[atomics.order]/2: a relaxed read acquires nothing",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  c: R.rlx.dev y | d: R x
         rf b->c, init->d
         rust: race a-d",
    );
    case(
        "[atomics.fences]/2: fences on both sides",
        "P0@0  a: W x | f: F.rel.dev | b: W.rlx.dev y
         P1@1  c: R.rlx.dev y | g: F.acq.dev | d: R x
         rf b->c, init->d
         rust: forbidden coherence",
    );
    case(
        "[atomics.fences]/2: of the right kinds",
        "P0@0  a: W x | f: F.acq.dev | b: W.rlx.dev y
         P1@1  c: R.rlx.dev y | g: F.acq.dev | d: R x
         rf b->c, init->d
         rust: race a-d",
    );
    case(
        "[atomics.fences]/3: on both sides",
        "P0@0  a: W x | f: F.rel.dev | b: W.rlx.dev y
         P1@1  c: R.rlx.dev y | g: F.rel.dev | d: R x
         rf b->c, init->d
         rust: race a-d",
    );
    case(
        "[atomics.fences]/2: with an atomic write between them",
        "P0@0  a: W x | f: F.rel.dev | b: W y
         P1@1  c: R.rlx.dev y | g: F.acq.dev | d: R x
         rf b->c, init->d
         rust: race a-d, b-c",
    );
    case(
        "[atomics.fences]/2: and an atomic read",
        "P0@0  a: W x | f: F.rel.dev | b: W.rlx.dev y
         P1@1  c: R y | g: F.acq.dev | d: R x
         rf b->c, init->d
         rust: race a-d, b-c",
    );
    case(
        "[intro.races]/5: a release sequence goes through read-modify-writes",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  u: U.rlx.dev y
         P2@2  c: R.acq.dev y | d: R x
         rf b->u.r, u.w->c, init->d
         co b->u.w
         rust: forbidden coherence",
    );
    case(
        "[atomics.order]/2: an acquiring exchange releases nothing, a releasing one acquires nothing",
        "P0@0  a: W x | u: U.acq.dev y
         P1@1  v: U.rel.dev y | d: R x
         rf init->u.r, u.w->v.r, init->d
         co u.w->v.w
         rust: race a-d",
    );
    case(
        "[intro.races]/10: a block's barrier",
        "P0@0  a: W x | f: B.ar.blk
         P1@0  g: B.ar.blk | d: R x
         rf init->d
         bar f->g, g->f
         rust: forbidden coherence",
    );
}

#[test]
fn a_block_is_one_thread_of_the_processors() {
    case(
        "[intro.races]/21: an atomic access and one that is not race, within a block too",
        "P0@0  a: W.rlx.dev x
         P1@0  b: R x
         rf init->b
         rust: race a-b",
    );
    case(
        "[atomics.fences]/5: fences of block scope order within the block",
        "P0@0  a: W x | f: F.rel.blk | b: W.rlx.blk y
         P1@0  c: R.rlx.blk y | g: F.acq.blk | d: R x
         rf b->c, init->d
         rust: forbidden coherence",
    );
    case(
        "[atomics.fences]/5: and not between blocks",
        "P0@0  a: W x | f: F.rel.blk | b: W.rlx.dev y
         P1@1  c: R.rlx.dev y | g: F.acq.dev | d: R x
         rf b->c, init->d
         rust: race a-d",
    );
    case(
        "[atomics.order]/2: nor does a release write of block scope",
        "P0@0  a: W.rlx.dev x | b: W.rel.blk y
         P1@1  c: R.acq.blk y | d: R.rlx.dev x
         rf b->c, init->d
         rust: race b-c",
    );
    case(
        "[atomics.fences]/2: what block scope has handed on within the block, a wider fence hands on to others",
        "P0@0  a: W x | f: F.rel.blk | b: W.rlx.blk y
         P1@0  c: R.rlx.blk y | g: F.acq.blk | h: F.rel.dev | e: W.rlx.dev z
         P2@1  i: R.rlx.dev z | j: F.acq.dev | d: R x
         rf b->c, e->i, init->d
         rust: forbidden coherence",
    );
    case(
        "[intro.races]/5: a read-modify-write of block scope carries no release on from another block",
        "P0@0  a: W.rlx.dev x | f: F.rel.dev | b: W.rlx.dev y
         P1@1  u: U.rlx.blk y
         P2@1  c: R.acq.dev y | d: R.rlx.dev x
         rf b->u.r, u.w->c, init->d
         rust: race b-u.r, b-u.w",
    );
    case(
        "[atomics.order]/10: read-modify-writes of block scope are atomic within the block",
        "P0@0  u: U.rlx.blk x
         P1@0  v: U.rlx.dev x
         rf init->u.r, init->v.r
         co u.w->v.w
         rust: forbidden atomicity",
    );
    case(
        "[atomics.order]/10: and not between blocks",
        "P0@0  u: U.rlx.blk x
         P1@1  v: U.rlx.dev x
         rf init->u.r, init->v.r
         rust: race u.r-v.w, u.w-v.r, u.w-v.w",
    );
    case(
        "[atomics.order]/4: sequentially consistent fences of block scope have one order within the block",
        "P0@0  a: W.rlx.dev x | f: F.sc.blk | b: R.rlx.dev y
         P1@0  c: W.rlx.dev y | g: F.sc.dev | d: R.rlx.dev x
         rf init->b, init->d
         rust: forbidden single total order",
    );
    case(
        "[atomics.order]/4: what a block's thread did before another one's fence of the device is before that fence",
        "P0@0  a: W.rlx.dev x | f: F.sc.blk | b: R.rlx.dev y
         P1@0  c: W.rlx.dev y | g: F.sc.dev | d: R.rlx.dev z
         P2@1  e: W.rlx.dev z | h: F.sc.dev | k: R.rlx.dev x
         rf init->b, init->d, init->k
         rust: forbidden single total order",
    );
    case(
        "[atomics.order]/4: but not what it did behind it",
        "P0@0  a: W.rlx.dev x | f: F.sc.blk | b: R.rlx.dev w
         P1@0  c: W.rlx.dev y | g: F.sc.dev | d: R.rlx.dev z
         P2@1  e: W.rlx.dev z | h: F.sc.dev | k: R.rlx.dev x
         rf init->b, init->d, init->k
         rust: allowed",
    );
    case(
        "[atomics.order]/4: and none between blocks",
        "P0@0  a: W.rlx.dev x | f: F.sc.blk | b: R.rlx.dev y
         P1@1  c: W.rlx.dev y | g: F.sc.dev | d: R.rlx.dev x
         rf init->b, init->d
         rust: allowed",
    );
}

#[test]
fn modification_order() {
    case(
        "[intro.races]/13: program order on one place (CoWW)",
        "P0@0  a: W.rlx.dev x | b: W.rlx.dev x
         co b->a
         rust: forbidden modification order",
    );
    case(
        "[intro.races]/15: what a thread has read comes before what it then writes (CoRW)",
        "P0@0  a: W.rlx.dev x
         P1@1  b: R.rlx.dev x | c: W.rlx.dev x
         rf a->b
         co c->a
         rust: forbidden modification order",
    );
    case(
        "[intro.races]/16: nor do two reads see two writes backwards (CoRR)",
        "P0@0  a: W.rlx.dev x
         P1@1  b: R.rlx.dev x | c: R.rlx.dev x
         rf a->b, init->c
         rust: forbidden coherence",
    );
    case(
        "[intro.races]/18: a read does not see what its own thread has overwritten (CoWR)",
        "P0@0  a: W.rlx.dev x | b: R.rlx.dev x
         P1@1  c: W.rlx.dev x
         rf c->b
         co c->a
         rust: forbidden modification order",
    );
    case(
        "[intro.races]/16: coherence of what no modification order was chosen for: a plain write between",
        "P0@0  a: W x | b: R x
         rf init->b
         rust: forbidden coherence",
    );
    case(
        "[intro.races]/13: nobody reads from its own future",
        "P0@0  a: R x | b: W x
         rf b->a
         rust: forbidden modification order",
    );
    case(
        "[atomics.order]/12: load buffering is allowed",
        "P0@0  a: R.rlx.dev x | b: W.rlx.dev y
         P1@1  c: R.rlx.dev y | d: W.rlx.dev x
         rf b->c, d->a
         rust: allowed",
    );
}

#[test]
fn atomicity() {
    case(
        "[atomics.order]/10: nothing between the halves of a read-modify-write",
        "P0@0  u: U.rlx.dev x
         P1@1  v: U.rlx.dev x
         rf init->u.r, init->v.r
         co u.w->v.w
         rust: forbidden atomicity",
    );
    case(
        "[atomics.order]/10: a plain write that races has no place in the order",
        "P0@0  a: W.rlx.dev x | b: W x
         P1@1  u: U.rlx.dev x
         rf a->u.r
         rust: race b-u.r, b-u.w
         rust: not-coherence b->u.w, u.w->b",
    );
    case(
        "[atomics.order]/10: also of a write that happens before the second half's thread",
        "P0@0  a: W.rlx.dev x | b: W.rlx.dev x
         P1@1  u: U.rlx.dev x
         rf a->u.r
         co b->u.w
         rust: forbidden atomicity",
    );
    case(
        "[atomics.order]/10: nor a plain write of another block, whatever the scope of the read-modify-write",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  c: R.acq.dev y | u: U.rlx.blk x
         rf b->c, init->u.r
         rust: forbidden atomicity",
    );
    case(
        "[intro.races]/18: an atomic write that is none to another block is only seen too late",
        "P0@0  a: W.rlx.blk x | b: W.rel.dev y
         P1@1  c: R.acq.dev y | u: U.rlx.blk x
         rf b->c, init->u.r
         rust: forbidden coherence",
    );
    case(
        "[atomics.order]/10: after the second half anything may come",
        "P0@0  u: U.rlx.dev x
         P1@1  a: W.rlx.dev x
         rf init->u.r
         co u.w->a
         rust: allowed",
    );
}

#[test]
fn one_order_of_sequentially_consistent_fences() {
    case(
        "[atomics.order]/4: store buffering is gone",
        "P0@0  a: W.rlx.dev x | f: F.sc.dev | b: R.rlx.dev y
         P1@1  c: W.rlx.dev y | g: F.sc.dev | d: R.rlx.dev x
         rf init->b, init->d
         rust: forbidden single total order",
    );
    case(
        "[atomics.order]/4: not behind acquire-release fences",
        "P0@0  a: W.rlx.dev x | f: F.sc.dev | b: R.rlx.dev y
         P1@1  c: W.rlx.dev y | g: F.ar.dev | d: R.rlx.dev x
         rf init->b, init->d
         rust: allowed",
    );
    case(
        "[atomics.order]/4: one that agrees with happens-before and with coherence",
        "P0@0  a: W.rlx.dev x | f: F.sc.dev | b: W.rlx.dev y
         P1@1  c: W.rlx.dev y | g: F.sc.dev | d: R.rlx.dev x
         rf init->d
         co b->c
         rust: forbidden single total order",
    );
    case(
        "[atomics.order]/4: in the other order of the writes it is fine",
        "P0@0  a: W.rlx.dev x | f: F.sc.dev | b: W.rlx.dev y
         P1@1  c: W.rlx.dev y | g: F.sc.dev | d: R.rlx.dev x
         rf init->d
         co c->b
         rust: allowed",
    );
}
