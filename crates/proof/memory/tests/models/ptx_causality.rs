//! Causality order in PTX (PTX ISA 8.5, 8.9.5 and 8.10.5), and the portable model where it differs: what synchronizes,
//! what is observed, what barriers and the system order, and what races without it.

use crate::notation::case;

#[test]
fn what_is_observed_does_not_race_with_what_follows() {
    case(
        "8.7.1: an operation does not race with what follows its observer, whatever either orders (8.9.5)",
        "P0@0  a: W.rlx.dev x
         P1@1  b: R.rlx.dev x | c: W x
         rf a->b
         portable rust: race a-c
         ptx: allowed
         ptx: ordered a->c
         ptx: not-happens-before a->c",
    );
    case(
        "8.9.2: a read-modify-write is observed as one operation, also through others",
        "P0@0  u: U.rlx.dev x
         P1@1  v: U.rlx.dev x
         P2@2  w: U.rlx.dev x | c: W x
         rf init->u.r, u.w->v.r, v.w->w.r
         portable: race u.r-c, u.w-c, v.r-c, v.w-c
         ptx: allowed",
    );
    case(
        "8.9.2: what observes nothing, or observes out of scope, has no such order",
        "P0@0  a: W.rlx.blk x
         P1@1  b: R.rlx.dev x | c: W x
         rf a->b
         portable ptx: race a-b, a-c",
    );
    case(
        "8.9.5: nothing that comes before the operation is ordered by that",
        "P0@0  d: W y | a: W.rlx.dev x
         P1@1  b: R.rlx.dev x | c: W y
         rf a->b
         portable ptx: race d-c",
    );
}

#[test]
fn causality() {
    case(
        "8.10.6: what a release pattern published is not missed behind an acquire pattern: fences",
        "P0@0  a: W x | f: F.rel.dev | b: W.rlx.dev y
         P1@1  c: R.rlx.dev y | g: F.acq.dev | d: R x
         rf b->c, init->d
         portable ptx: forbidden Causality",
    );
    case(
        "8.8: without the release fence nothing is ordered",
        "P0@0  a: W x | f: F.acq.dev | b: W.rlx.dev y
         P1@1  c: R.rlx.dev y | g: F.acq.dev | d: R x
         rf b->c, init->d
         portable ptx: race a-d",
    );
    case(
        "8.8: nor without the acquire fence",
        "P0@0  a: W x | f: F.rel.dev | b: W.rlx.dev y
         P1@1  c: R.rlx.dev y | g: F.rel.dev | d: R x
         rf b->c, init->d
         portable ptx: race a-d",
    );
    case(
        "8.8: a release write and an acquire read are patterns too",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  c: R.acq.dev y | d: R x
         rf b->c, init->d
         portable ptx: forbidden Causality",
    );
    case(
        "8.8: relaxed ones are not",
        "P0@0  a: W x | b: W.rlx.dev y
         P1@1  c: R.acq.dev y | d: R x
         rf b->c, init->d
         portable ptx: race a-d",
    );
    case(
        "8.8: on either side",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  c: R.rlx.dev y | d: R x
         rf b->c, init->d
         portable ptx: race a-d",
    );
    case(
        "8.8: a barrier is no fence for others than those who meet it",
        "P0@0  a: W x | f: B.ar.dev | b: W.rlx.dev y
         P1@1  c: R.rlx.dev y | g: F.acq.dev | d: R x
         rf b->c, init->d
         portable ptx rust: race a-d",
    );
    case(
        "8.8: on either side",
        "P0@0  a: W x | f: F.rel.dev | b: W.rlx.dev y
         P1@1  c: R.rlx.dev y | g: B.ar.dev | d: R x
         rf b->c, init->d
         portable ptx rust: race a-d",
    );
    case(
        "8.8: a release pattern ends in a strong write",
        "P0@0  a: W x | f: F.rel.dev | b: W y
         P1@1  c: R.rlx.dev y | g: F.acq.dev | d: R x
         rf b->c, init->d
         portable ptx: race a-d, b-c",
    );
    case(
        "8.8: an acquire pattern begins with a strong read",
        "P0@0  a: W x | f: F.rel.dev | b: W.rlx.dev y
         P1@1  c: R y | g: F.acq.dev | d: R x
         rf b->c, init->d
         portable ptx: race a-d, b-c",
    );
    case(
        "8.8: the fence comes before the write",
        "P0@0  a: W x | b: W.rlx.dev y | f: F.rel.dev
         P1@1  c: R.rlx.dev y | g: F.acq.dev | d: R x
         rf b->c, init->d
         portable ptx: race a-d",
    );
    case(
        "8.9.4: the ends of the patterns are morally strong: a fence of a block does not reach another",
        "P0@0  a: W x | f: F.rel.blk | b: W.rlx.dev y
         P1@1  c: R.rlx.dev y | g: F.acq.dev | d: R x
         rf b->c, init->d
         portable ptx: race a-d",
    );
    case(
        "8.9.2: what is observed is morally strong: a write of a block's scope is not observed in another",
        "P0@0  a: W x | f: F.rel.dev | b: W.rlx.blk y
         P1@1  c: R.rlx.dev y | g: F.acq.dev | d: R x
         rf b->c, init->d
         portable ptx: race a-d, b-c",
    );
    case(
        "8.7: within a block, block scope is enough",
        "P0@0  a: W x | f: F.rel.blk | b: W.rlx.blk y
         P1@0  c: R.rlx.blk y | g: F.acq.blk | d: R x
         rf b->c, init->d
         portable ptx: forbidden Causality",
    );
    case(
        "8.7: between devices, system scope is needed",
        "P0@0/0  a: W x | f: F.rel.dev | b: W.rlx.dev y
         P1@1/0  c: R.rlx.dev y | g: F.acq.dev | d: R x
         rf b->c, init->d
         portable ptx: race a-d, b-c",
    );
    case(
        "8.7: and is enough",
        "P0@0/0  a: W x | f: F.rel.sys | b: W.rlx.sys y
         P1@1/0  c: R.rlx.sys y | g: F.acq.sys | d: R x
         rf b->c, init->d
         portable ptx: forbidden Causality",
    );
    case(
        "8.9.5: fence.sc is a release and an acquire fence",
        "P0@0  a: W x | f: F.sc.dev | b: W.rlx.dev y
         P1@1  c: R.rlx.dev y | g: F.acq.dev | d: R x
         rf b->c, init->d
         portable ptx: forbidden Causality",
    );
    case(
        "8.9.5: causality is transitive, through a thread between (ISA2)",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  c: R.acq.dev y | e: W.rel.dev z
         P2@2  g: R.acq.dev z | d: R x
         rf b->c, e->g, init->d
         portable ptx: forbidden Causality",
    );
    case(
        "8.9.5: and begins with an observation (WRC)",
        "P0@0  a: W.rlx.dev x
         P1@1  b: R.rlx.dev x | e: W.rel.dev z
         P2@2  g: R.acq.dev z | d: R.rlx.dev x
         rf a->b, e->g, init->d
         portable ptx: forbidden Causality",
    );
    case(
        "8.10.6: reads-from does not contradict causality",
        "P0@0  a: R x | b: W.rel.dev y
         P1@1  c: R.acq.dev y | d: W x
         rf b->c, d->a
         portable ptx: forbidden Causality",
    );
    case(
        "8.10: load buffering is allowed",
        "P0@0  a: R.rlx.dev x | b: W.rlx.dev y
         P1@1  c: R.rlx.dev y | d: W.rlx.dev x
         rf b->c, d->a
         portable ptx: allowed",
    );
    case(
        "8.10: store buffering is allowed, and so are two orders of two writes (IRIW)",
        "P0@0  a: W.rlx.dev x
         P1@1  b: W.rlx.dev y
         P2@2  c: R.acq.dev x | d: R.acq.dev y
         P3@3  e: R.acq.dev y | f: R.acq.dev x
         rf a->c, init->d, b->e, init->f
         portable ptx: allowed",
    );
}

#[test]
fn release_patterns_extend_to_later_writes_in_ptx_alone() {
    case(
        "8.8: a later strong write of the place belongs to the release pattern; C++20, [intro.races]/5 has it no more",
        "P0@0  a: W x | b: W.rel.dev y | e: W.rlx.dev y
         P1@1  c: R.acq.dev y | d: R x
         rf e->c, init->d
         ptx: forbidden Causality
         portable vulkan rust: race a-d",
    );
    case(
        "8.8: an earlier strong read of the place belongs to the acquire pattern",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  e: R.rlx.dev y | c: R.acq.dev y | d: R x
         P2@2  g: W.rlx.dev y
         rf b->e, g->c, init->d
         co b->g
         ptx: forbidden Causality
         portable vulkan rust: race a-d",
    );
    case(
        "8.8: a write of another place does not",
        "P0@0  a: W x | b: W.rel.dev y | e: W.rlx.dev z
         P1@1  c: R.acq.dev z | d: R x
         rf e->c, init->d
         portable ptx: race a-d",
    );
    case(
        "8.8: nor a read of another place",
        "P0@0  a: W x | f: F.rel.dev | b: W.rlx.dev z
         P1@1  e: R.rlx.dev z | c: R.acq.dev y | d: R x
         rf b->e, init->c, init->d
         portable ptx: race a-d",
    );
    case(
        "8.8: nor a weak write of the place",
        "P0@0  a: W x | b: W.rel.dev y | e: W y
         P1@1  c: R.acq.dev y | d: R x
         rf e->c, init->d
         portable ptx: race a-d, e-c",
    );
}

#[test]
fn observation_goes_through_read_modify_writes() {
    case(
        "8.9.2: a relaxed read-modify-write hands a release on",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  u: U.rlx.dev y
         P2@2  c: R.acq.dev y | d: R x
         rf b->u.r, u.w->c, init->d
         co b->u.w
         portable ptx: forbidden Causality
         vulkan: forbidden consistency
         rust: forbidden coherence",
    );
    case(
        "8.9.2: so does a chain of them",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  u: U.rlx.dev y
         P2@2  v: U.rlx.dev y
         P3@3  c: R.acq.dev y | d: R x
         rf b->u.r, u.w->v.r, v.w->c, init->d
         co b->u.w, u.w->v.w
         portable ptx: forbidden Causality",
    );
    case(
        "8.9.2: a read and a write do not",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  e: R.rlx.dev y | g: W.rlx.dev y
         P2@2  c: R.acq.dev y | d: R x
         rf b->e, g->c, init->d
         co b->g
         portable ptx: race a-d",
    );
    case(
        "8.9.2: nor one that is not morally strong with the release",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  u: U.rlx.blk y
         P2@1  c: R.acq.dev y | d: R x
         rf b->u.r, u.w->c, init->d
         portable ptx: race a-d, b-u.r, b-u.w",
    );
    case(
        "9.7.13 atom: an atom.acquire writes relaxed, an atom.release reads relaxed",
        "P0@0  a: W x | u: U.acq.dev y
         P1@1  v: U.rel.dev y | d: R x
         rf init->u.r, u.w->v.r, init->d
         co u.w->v.w
         portable ptx: race a-d",
    );
    case(
        "9.7.13 atom: an atom.acq_rel does both",
        "P0@0  a: W x | u: U.ar.dev y
         P1@1  v: U.ar.dev y | d: R x
         rf init->u.r, u.w->v.r, init->d
         co u.w->v.w
         portable ptx: forbidden Causality",
    );
}

#[test]
fn barriers_and_the_system() {
    case(
        "8.9.4: a barrier orders what precedes an arrival before what follows a passage",
        "P0@0  a: W x | f: B.ar.blk
         P1@0  g: B.ar.blk | d: R x
         rf init->d
         bar f->g, g->f
         portable ptx: forbidden Causality",
    );
    case(
        "9.7.13.1: who arrives without waiting is not ordered after the others (bar.arrive)",
        "P0@0  a: W x | f: B.ar.blk
         P1@0  g: B.ar.blk | d: R x
         rf init->d
         bar g->f
         portable ptx: race a-d",
    );
    case(
        "8.9.4: a launch that begins after another sees all of it",
        "P0@0  a: W x
         P1@1  d: R x
         rf init->d
         launch 0->1
         portable ptx: forbidden Causality
         vulkan: race a-d
         rust: forbidden coherence",
    );
    case(
        "8.9.4: and is not seen by it",
        "P0@0  a: W x
         P1@1  d: R x
         rf init->d
         launch 1->0
         portable ptx rust vulkan: allowed",
    );
    case(
        "8.9.4: the order of two events of the system, with what surrounds them",
        "P0@0  a: W x | e: W y
         P1@1  b: R y | d: R x
         rf e->b, init->d
         ssw e->b
         portable ptx: forbidden Causality",
    );
}

#[test]
fn what_races() {
    case(
        "8.7: weak accesses of two threads, one of them a write",
        "P0@0  a: W x
         P1@1  b: R x
         rf init->b
         portable ptx rust vulkan: race a-b",
    );
    case(
        "8.4: a weak access is weak, whatever scope it names",
        "P0@0  a: W.dev x
         P1@1  b: R.dev x
         rf init->b
         portable ptx: race a-b",
    );
    case(
        "8.7: a weak and a strong one",
        "P0@0  a: W.rlx.dev x
         P1@1  b: R x
         rf init->b
         portable ptx rust vulkan: race a-b",
    );
    case(
        "8.7: strong ones out of each other's scope, either way",
        "P0@0  a: W.rlx.blk x
         P1@1  b: R.rlx.dev x
         rf init->b
         portable ptx vulkan rust: race a-b",
    );
    case(
        "8.7: strong ones in scope do not race, nor reads, nor accesses of one thread or of different places",
        "P0@0  a: W.rlx.dev x | e: W z | f: R z | h: R w
         P1@1  b: R.rlx.dev x | g: W y | i: R w
         rf init->b, e->f, init->h, init->i
         portable ptx vulkan rust: allowed",
    );
    case(
        "8.7: accesses whose addresses are not known yet, as in a thread that is stuck, do not race",
        "P0@0  a: W
         P1@1  b: W
         portable ptx vulkan rust: allowed",
    );
    case(
        "8.7: neither is a race with what was there before",
        "P0@0  b: R x
         rf init->b
         portable ptx vulkan rust: allowed",
    );
}

#[test]
fn reductions_begin_no_acquire_pattern() {
    for (update, verdict) in [("U.rlx.dev", "forbidden Causality"), ("U.rlx.dev.red", "allowed")] {
        case(
            "8.8: \"this strong read does not form an acquire pattern\"",
            &format!(
                "P0@0  a: W.rlx.dev x | b: F.rel.dev | c: W.rlx.dev y
                 P1@1  u: {update} y | d: F.acq.dev | e: R.rlx.dev x
                 rf c->u.r, init->e
                 ptx: {verdict}"
            ),
        );
    }
    case(
        "8.9.2: their writes are observed as those of other updates are",
        "P0@0  a: W.rlx.dev x | b: F.rel.dev | c: W.rlx.dev y
         P1@1  u: U.rlx.dev.red y
         P2@2  d: R.rlx.dev y | f: F.acq.dev | e: R.rlx.dev x
         rf c->u.r, u.w->d, init->e
         ptx: forbidden Causality",
    );
}

#[test]
fn barriers_one_behind_the_other() {
    for (between, reads, verdict) in [
        ("c: B.blk | d: B.blk", "init", "forbidden Causality"),
        ("c: B.blk | d: B.blk", "a", "allowed"),
        ("g: B.blk | c: B.blk | d: B.blk | h: B.blk", "init", "forbidden Causality"),
        ("d: B.blk | c: B.blk", "init", "race a-f"),
    ] {
        case(
            "8.9.4, 8.9.5: what a thread passes at one barrier it hands on at the next, with nothing between them",
            &format!(
                "P0@0  a: W x | b: B.blk
                 P1@0  {between}
                 P2@0  e: B.blk | f: R x
                 bar b->c, d->e
                 rf {reads}->f
                 ptx portable: {verdict}"
            ),
        );
    }
}

#[test]
fn weak_reads_begin_no_acquire_pattern() {
    case(
        "8.8: \"a strong read on M followed by an acquire memory fence\"",
        "P0@0  a: W.rlx.dev x | b: F.rel.dev | c: W.rlx.dev y
         P1@1  u: U.rlx.dev.red y | g: R y | d: F.acq.dev | e: R.rlx.dev x
         rf c->u.r, u.w->g, init->e
         ptx: allowed",
    );
}
