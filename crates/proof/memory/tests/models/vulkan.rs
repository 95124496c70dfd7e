//! The Vulkan memory model: its axioms, orders of modification, and what synchronizes. `vulkan_chains` has
//! availability and visibility.
//!
//! Clauses are those of the appendix "Memory Model" of Vulkan 1.3; `vulkan.cat` is Dartagnan's.

use crate::notation::case;

#[test]
fn scoped_modification_order() {
    case(
        "Scoped Modification Order: it agrees with location-order",
        "P0@0  a: W.rlx.dev x | b: W.rlx.dev x
         co b->a
         vulkan: forbidden scoped modification order",
    );
    case(
        "Scoped Modification Order: also behind what a thread has read (CoRW)",
        "P0@0  a: W.rlx.dev x
         P1@1  b: R.rlx.dev x | c: W.rlx.dev x
         rf a->b
         co c->a
         vulkan: forbidden scoped modification order",
    );
    case(
        "Scoped Modification Order: total among the atomics within each other's scope alone",
        "P0@0  a: W.rlx.blk x
         P1@1  b: W.rlx.dev x
         vulkan: race a-b
         vulkan: not-coherence a->b, b->a",
    );
    case(
        "Mutually Ordered: a plain write is not ordered with an atomic one",
        "P0@0  a: W x
         P1@1  b: W.rlx.dev x
         vulkan: race a-b
         vulkan: not-coherence a->b, b->a",
    );
    case(
        "Mutually Ordered: nor are atomics by different references",
        "P0@0  a: W.rlx.dev x
         P1@1  b: W.rlx.dev x'
         vulkan: race a-b
         vulkan: not-coherence a->b, b->a",
    );
    case(
        "Mutually Ordered: accesses of different places are not",
        "P0@0  a: W.rlx.dev x
         P1@1  b: W.rlx.dev y
         vulkan: allowed
         vulkan: not-coherence a->b, b->a",
    );
    case(
        "Scoped Modification Order: a plain write's place follows from location-order",
        "P0@0  a: W x | b: W.rlx.dev x
         P1@1  u: U.rlx.dev x
         rf b->u.r
         co b->u.w
         vulkan: coherence a->b, b->u.w, a->u.w
         vulkan: not-coherence b->a",
    );
}

#[test]
fn scoped_modification_order_relates_no_other_operations() {
    let clause =
        "Memory Model, Scoped Modification Order: \"A's scoped modification order relates no other operations\"";
    case(
        clause,
        "P0@1  u: U.rlx.blk x
         P1@0  a: W.rlx.blk x | b: W.rlx.dev x
         P2@1  c: W.rlx.dev x
         rf a->u.r
         co a->b, b->c, c->u.w
         vulkan: race u.r-a, u.r-b, u.w-a, u.w-b, a-c",
    );
    case(
        clause,
        "P0@1  u: U.rlx.dev x
         P1@0  a: W.rlx.dev x | b: W.rlx.dev x
         P2@1  c: W.rlx.dev x
         rf a->u.r
         co a->b, b->c, c->u.w
         vulkan: forbidden scoped modification order",
    );
}

#[test]
fn consistency() {
    case(
        "Valid Executions: two atomic reads do not see two atomic writes backwards (CoRR)",
        "P0@0  a: W.rlx.dev x
         P1@1  b: R.rlx.dev x | c: R.rlx.dev x
         rf a->b, init->c
         vulkan: forbidden consistency",
    );
    case(
        "vulkan.cat, fr: an atomic read comes before what follows its source in the modification order",
        "P0@0  a: W.rlx.dev x | b: W.rlx.dev x
         P1@1  c: R.rlx.dev x | d: R.rlx.dev x
         rf b->c, a->d
         vulkan: forbidden scoped modification order",
    );
    case(
        "vulkan.cat, fr: also where its source is out of scope of the last",
        "P0@0  a: W.rlx.blk x
         P1@0  b: W.rlx.dev x
         P2@1  c: W.rlx.dev x | d: R.rlx.dev x
         rf a->d
         co a->b, b->c
         vulkan: forbidden consistency",
    );
    case(
        "vulkan.cat, fr: plain reads that race may see two writes of one thread backwards (CoWW-RR)",
        "P0@0  a: W x | b: W x
         P1@1  c: R x | d: R x
         rf b->c, a->d
         vulkan: race a-c, a-d, b-c, b-d",
    );
    case(
        "vulkan.cat, fr: not so where the first is located before the read",
        "P0@0  a: W x | e: W.rel.dev y | b: W x
         P1@1  f: R.acq.dev y | c: R x | d: R x
         rf e->f, b->c, a->d
         vulkan: forbidden consistency",
    );
    case(
        "vulkan.cat, fr: nor of the initial value, which all writes overwrite",
        "P0@0  a: W x
         P1@1  c: R x | d: R x
         rf a->c, init->d
         vulkan: forbidden consistency",
    );
    case(
        "Valid Executions: nobody reads what its own thread has overwritten",
        "P0@0  a: W x | b: W x | c: R x
         rf a->c
         vulkan: forbidden consistency",
    );
    case(
        "Valid Executions: nor what its own thread writes later",
        "P0@0  a: R x | b: W x
         rf b->a
         vulkan: forbidden consistency",
    );
    case(
        "Valid Executions: a thread does not see what a later atomic write in the order has overwritten (CoWR)",
        "P0@0  a: W.rlx.dev x | b: R.rlx.dev x
         P1@1  c: W.rlx.dev x
         rf c->b
         co c->a
         vulkan: forbidden scoped modification order",
    );
    case(
        "Valid Executions: load buffering of different places is allowed",
        "P0@0  a: R.rlx.dev x | b: W.rlx.dev y
         P1@1  c: R.rlx.dev y | d: W.rlx.dev x
         rf b->c, d->a
         vulkan: allowed",
    );
    case(
        "Valid Executions: so is store buffering, behind any fence that there is",
        "P0@0  a: W.rlx.dev x | f: F.ar.dev | b: R.rlx.dev y
         P1@1  c: W.rlx.dev y | g: F.ar.dev | d: R.rlx.dev x
         rf init->b, init->d
         vulkan: allowed",
    );
}

#[test]
fn atomicity() {
    case(
        "Atomic Operation: no write of the modification order between the halves",
        "P0@0  u: U.rlx.dev x
         P1@1  v: U.rlx.dev x
         rf init->u.r, init->v.r
         co u.w->v.w
         vulkan: forbidden scoped modification order",
    );
    case(
        "Atomic Operation: nor one that is located after a plain source, which no modification order knows",
        "P0@0  a: W x | b: W.rel.dev y | e: W.rlx.dev x
         P1@1  c: R.acq.dev y | u: U.rlx.dev x
         rf b->c, a->u.r
         co e->u.w
         vulkan: forbidden atomicity",
    );
    case(
        "Atomic Operation: after the second half anything may come",
        "P0@0  a: W x | b: W.rel.dev y | e: W.rlx.dev x
         P1@1  c: R.acq.dev y | u: U.rlx.dev x
         rf b->c, a->u.r
         co u.w->e
         vulkan: allowed",
    );
    case(
        "Atomic Operation: updates out of each other's scope may read the same",
        "P0@0  u: U.rlx.blk x
         P1@1  v: U.rlx.blk x
         rf init->u.r, init->v.r
         vulkan: race u.r-v.w, u.w-v.r, u.w-v.w",
    );
}

#[test]
fn visible_to() {
    case(
        "Visible-To: a plain read does not read what a later write has hidden, though neither is visible to it",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  c: R.acq.novis.dev y | d: W x | e: R x
         rf b->c, a->e
         vulkan: forbidden visible-to",
    );
    case(
        "Visible-To: an atomic read may, of a narrower scope",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  c: R.acq.novis.dev y | d: W x | e: R.rlx.blk x
         rf b->c, a->e
         vulkan: race a-e",
    );
    case(
        "Visible-To: what is not hidden can be read",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  c: R.acq.novis.dev y | d: W x | e: R x
         rf b->c, d->e
         vulkan: race a-e",
    );
}

#[test]
fn synchronizes_with() {
    let publication = |writer: &str, reader: &str, verdict: &str, clause: &str| {
        case(clause, &format!("{writer}\n{reader}\nrf w->r, init->d\nvulkan: {verdict}"));
    };
    let (release, acquire) = ("P0@0 a: W x | w: W.rel.dev y", "P1@1 r: R.acq.dev y | d: R x");
    let (seen, stale) = ("forbidden consistency", "race a-d");
    publication(release, acquire, seen, "Synchronizes-With: a release write and an acquire read");
    publication("P0@0 a: W x | w: W.rlx.dev y", acquire, stale, "a relaxed write releases nothing");
    publication(release, "P1@1 r: R.rlx.dev y | d: R x", stale, "a relaxed read acquires nothing");
    let fenced = "P0@0 a: W x | f: F.rel.dev | w: W.rlx.dev y";
    let behind = "P1@1 r: R.rlx.dev y | g: F.acq.dev | d: R x";
    publication(fenced, behind, seen, "Synchronizes-With: fences on both sides");
    publication(fenced, acquire, seen, "Synchronizes-With: a fence and a read");
    publication(release, behind, seen, "Synchronizes-With: a write and a fence");
    publication("P0@0 a: W x | w: W.rlx.dev y | f: F.rel.dev", behind, stale, "the fence comes before its write");
    publication(fenced, "P1@1 g: F.acq.dev | r: R.rlx.dev y | d: R x", stale, "and after its read");
    publication("P0@0 a: W x | f: F.acq.dev | w: W.rlx.dev y", behind, stale, "an acquire fence does not release");
    publication(fenced, "P1@1 r: R.rlx.dev y | g: F.rel.dev | d: R x", stale, "a release fence does not acquire");
    publication(
        "P0@0 a: W x | f: F.rel.dev | w: W y",
        behind,
        "race a-d, w-r",
        "Synchronizes-With: through atomic writes alone",
    );
    publication(
        fenced,
        "P1@1 r: R y | g: F.acq.dev | d: R x",
        "race a-d, w-r",
        "Synchronizes-With: and atomic reads alone",
    );
    publication(
        "P0@0 a: W x | f: F.rel.blkmem.dev | w: W.rlx.dev y",
        behind,
        stale,
        "Synchronizes-With: the fence's semantics include the storage class of the atomic that carries it",
    );
    publication(fenced, "P1@1 r: R.rlx.dev y | g: F.acq.blkmem.dev | d: R x", stale, "on both sides");
    for (release, acquire, verdict) in
        [("F.rel", "F.acq", seen), ("F.rel.buf", "F.acq", stale), ("F.rel", "F.acq.buf", stale)]
    {
        publication(
            &format!("P0@0 a: W x | f: {release}.blk | w: W.rlx.shm.blk y"),
            &format!("P1@0 r: R.rlx.shm.blk y | g: {acquire}.blk | d: R x"),
            verdict,
            "Synchronizes-With: though the fences are about all that is published",
        );
    }
    publication("P0@0 a: W x | f: F.rel.blk | w: W.rlx.dev y", behind, stale, "scopes include both threads");
    publication(fenced, "P1@1 r: R.rlx.dev y | g: F.acq.blk | d: R x", stale, "of both fences");
    publication("P0@0 a: W x | f: F.rel.dev | w: W.rlx.blk y", behind, "race a-d, w-r", "and of the atomics");
    case(
        "Synchronizes-With: the scopes of the ends include both threads, whatever is available",
        "P0@0  f: F.rel.blk | w: W.rlx.dev y | e: F.rel.dev | u: W.rlx.dev z
         P1@1  r: R.rlx.dev y | g: F.acq.dev
         P2@1  v: R.rlx.dev z | h: F.acq.blk
         rf w->r, u->v
         vulkan: not-happens-before f->g, f->h, e->h",
    );
    publication(
        "P0@0 a: W x | f: F.rel.dev | w: W.rlx.dev y",
        "P1@1 r: R.rlx.dev y' | g: F.acq.dev | d: R x",
        "race a-d, w-r",
        "Mutually Ordered: which are by one reference",
    );
    publication(
        "P0@0 a: W x | f: MA.rel.dev | w: W.rlx.dev y",
        behind,
        stale,
        "an operation to the device domain is no fence",
    );
}

#[test]
fn release_sequences() {
    case(
        "Synchronizes-With: through an update that reads from the release",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  u: U.rlx.dev y
         P2@2  c: R.acq.dev y | d: R x
         rf b->u.r, u.w->c, init->d
         co b->u.w
         vulkan: forbidden consistency",
    );
    case(
        "Synchronizes-With: not through a read and a write",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  e: R.rlx.dev y | g: W.rlx.dev y
         P2@2  c: R.acq.dev y | d: R x
         rf b->e, g->c, init->d
         co b->g
         vulkan: race a-d",
    );
    case(
        "Synchronizes-With: nor through an update out of scope",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  u: U.rlx.blk y
         P2@1  c: R.acq.dev y | d: R x
         rf b->u.r, u.w->c, init->d
         vulkan: race a-d, b-u.r, b-u.w",
    );
    case(
        "Synchronizes-With: an acquiring update that hands a word on does not release",
        "P0@0  a: W x | u: U.acq.dev y
         P1@1  v: U.rel.dev y | d: R x
         rf init->u.r, u.w->v.r, init->d
         co u.w->v.w
         vulkan: race a-d",
    );
}

#[test]
fn control_barriers() {
    let met = |writer: &str, reader: &str, verdict: &str, clause: &str| {
        let order = "bar f->g, g->f\nrf init->d";
        case(clause, &format!("{writer}\n{reader}\n{order}\nvulkan: {verdict}"));
    };
    let (seen, stale) = ("forbidden consistency", "race a-d");
    met("P0@0 a: W x | f: B.ar.blk", "P1@0 g: B.ar.blk | d: R x", seen, "Synchronizes-With: barriers with semantics");
    met("P0@0 a: W x | f: B.blk", "P1@0 g: B.blk | d: R x", stale, "a barrier without orders no memory");
    met("P0@0 a: W x | f: B.acq.blk", "P1@0 g: B.ar.blk | d: R x", stale, "the first one releases");
    met("P0@0 a: W x | f: B.ar.blk", "P1@0 g: B.rel.blk | d: R x", stale, "the other one acquires");
    met(
        "P0@0/0/0/0 a: W x | f: B.ar.sg",
        "P1@0/0/0/1 g: B.ar.sg | d: R x",
        stale,
        "Synchronizes-With: within the memory scope of both barriers",
    );
    met(
        "P0@0/0/0/0 a: W x | f: B.ar.blk",
        "P1@0/0/0/1 g: B.ar.sg | d: R x",
        stale,
        "Synchronizes-With: of the narrower one",
    );
    met("P0@0/0/0/0 a: W x | f: B.ar.sg", "P1@0/0/0/0 g: B.ar.sg | d: R x", seen, "a subgroup's within it");
    met(
        "P0@0 a: W x | e: F.rel.blk | f: B.blk",
        "P1@0 g: B.blk | h: F.acq.blk | d: R x",
        seen,
        "Synchronizes-With: fences before and behind barriers that order nothing",
    );
    met(
        "P0@0/0/0/0 a: W x | e: F.rel.blk | f: B.sg",
        "P1@0/0/0/1 g: B.sg | h: F.acq.blk | d: R x",
        stale,
        "Synchronizes-With: the barriers themselves are within each other's scope",
    );
    case(
        "Synchronizes-With: and so are the fences around them",
        "P0@0/0/0/0  e: F.rel.sg | f: B.blk
         P1@0/0/0/1  g: B.blk | h: F.acq.blk
         bar f->g, g->f
         vulkan: not-happens-before e->h",
    );
    case(
        "Synchronizes-With: the barriers are of one instance",
        "P0@0  a: W x | f: B.ar.blk
         P1@0  g: B.ar.blk | d: R x
         rf init->d
         vulkan: race a-d",
    );
}

#[test]
fn happens_before() {
    case(
        "Happens-Before: about the storage classes that release and acquire both name",
        "P0@0  a: W.shm x | b: W.rel.buf.blk y
         P1@0  c: R.acq.blk y | d: R.shm x
         rf b->c, init->d
         vulkan: race a-d
         vulkan: not-happens-before a->d, a->c
         vulkan: happens-before b->c",
    );
    case(
        "Happens-Before: an acquire of another class",
        "P0@0  a: W.shm x | b: W.rel.blk y
         P1@0  c: R.acq.buf.blk y | d: R.shm x
         rf b->c, init->d
         vulkan: race a-d
         vulkan: not-happens-before a->d",
    );
    case(
        "Happens-Before: of both classes",
        "P0@0  a: W.shm x | b: W.rel.blk y
         P1@0  c: R.acq.blk y | d: R.shm x
         rf b->c, init->d
         vulkan: forbidden consistency",
    );
    case(
        "Inter-Thread-Happens-Before: one set of classes all along a chain",
        "P0@0  a: W.shm x | b: W.rel.blk y
         P1@0  c: R.acq.blk y | e: W.rel.buf.blk z
         P2@0  g: R.acq.blk z | d: R.shm x
         rf b->c, e->g, a->d
         vulkan: happens-before b->g
         vulkan: not-happens-before a->d",
    );
    case(
        "Inter-Thread-Happens-Before: a set of two classes is one set",
        "P0@0  a: W.shm x | b: W.rel.blk y
         P1@0  c: R.acq.blk y | d: R z
         rf b->c, init->d
         vulkan: happens-before a->d",
    );
    case(
        "Inter-Thread-Happens-Before: what precedes in program order a release, and follows an acquire",
        "P0@0  e: W.rel.dev z | b: W.rel.dev y | h: W x
         P1@1  i: W x | c: R.acq.dev y | d: R w
         rf b->c, init->d
         vulkan: happens-before e->d, e->c, b->d, i->d
         vulkan: not-happens-before h->d, h->c, b->i, d->b, e->i",
    );
    case(
        "Inter-Thread-Happens-Before: of atomics alone",
        "P0@0  b: W.rel.shm.blkmem.blk y
         P1@0  c: R.acq.shm.blkmem.blk y
         rf b->c
         vulkan: happens-before b->c",
    );
    case(
        "Happens-Before: system-synchronizes-with orders all classes, and only between its ends",
        "P0@0  a: W x
         P1@1  d: R y
         rf init->d
         launch 0->1
         vulkan: happens-before a->d
         vulkan: not-happens-before d->a",
    );
}
