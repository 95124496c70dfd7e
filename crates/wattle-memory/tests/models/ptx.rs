//! PTX ISA 8.5, section 8, and the portable model where it differs. Stale reads are from-reads; `init` is what a place
//! holds before.

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
         portable ptx vulkan: race a-b
         rust: allowed",
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
