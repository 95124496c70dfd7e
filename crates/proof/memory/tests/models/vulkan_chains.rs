//! Availability, visibility and location-order in the Vulkan memory model.

use crate::notation::case;

/// A publication of `x`, of which `d` reads a stale value: forbidden if `ordered`, otherwise only a race.
#[track_caller]
fn publication(ordered: bool, writer: &str, reader: &str, clause: &str) {
    let verdict = if ordered { "forbidden consistency" } else { "race a-d" };
    case(clause, &format!("{writer}\n{reader}\nrf w->r, init->d\nvulkan: {verdict}"));
}

#[test]
fn a_write_is_made_available_and_visible() {
    let (release, acquire) = ("P0@0 a: W x | w: W.rel.dev y", "P1@1 r: R.acq.dev y | d: R x");
    publication(true, release, acquire, "Location-Ordered: available and visible");
    publication(false, "P0@0 a: W x | w: W.rel.noav.dev y", acquire, "Availability: MakeAvailable is needed");
    publication(false, release, "P1@1 r: R.acq.novis.dev y | d: R x", "Visibility: MakeVisible is needed");
    publication(false, "P0@0 a: W.priv x | w: W.rel.dev y", acquire, "Non-Private: a private write is not shared");
    publication(false, release, "P1@1 r: R.acq.dev y | d: R.priv x", "Non-Private: nor is a private read");
    publication(false, release, "P1@1 r: R.acq.dev y | d: R x'", "Location-Ordered: by one reference");
    publication(
        true,
        "P0@0 a: W.coh.dev x | w: W.rel.noav.dev y",
        "P1@1 r: R.acq.novis.dev y | d: R.coh.dev x",
        "Availability and visibility operations of the accesses themselves (MakePointerAvailable, …Visible)",
    );
    publication(
        false,
        "P0@0 a: W.coh.blk x | w: W.rel.noav.dev y",
        "P1@1 r: R.acq.novis.dev y | d: R.coh.dev x",
        "which reach as far as their scope",
    );
    publication(
        false,
        "P0@0 a: W.coh.dev x | w: W.rel.noav.dev y",
        "P1@1 r: R.acq.novis.dev y | d: R.coh.blk x",
        "on both sides",
    );
    publication(
        false,
        "P0@0 a: W x | w: W.rel.noav.dev y",
        "P1@1 r: R.acq.dev y | d: R.coh.dev x",
        "and are about their own access alone",
    );
    // Atomic accesses are availability and visibility operations of their own.
    case(
        "which is all accesses by its reference",
        "P0@0  a: W x | w: W.rel.noav.dev x
         P1@1  r: R.acq.novis.dev x | d: R x
         rf w->r, w->d
         vulkan: allowed
         vulkan: ordered a->d, w->d",
    );
    case(
        "and none by another reference of the place",
        "P0@0  a: W x | w: W.rel.noav.dev x'
         P1@1  r: R.acq.novis.dev x' | d: R x
         rf w->r, w->d
         vulkan: race a-w, a-r, a-d, w-d",
    );
    publication(
        false,
        "P0@0 a: W.coh.dev x | w: W.rel.noav.dev y",
        "P1@1 r: R.acq.novis.dev y | d: R x",
        "on both sides",
    );
    publication(
        false,
        "P0@0 a: W x | f: F.rel.noav.dev | w: W.rlx.dev y",
        "P1@1 r: R.acq.dev y | d: R x",
        "Availability: of a fence",
    );
    publication(false, release, "P1@1 r: R.rlx.dev y | f: F.acq.novis.dev | d: R x", "Visibility: of a fence");
    case(
        "Availability: a visibility operation makes nothing available",
        "P0@0  a: W x | e: R.coh.dev x | w: W.rel.noav.dev y
         P1@1  r: R.acq.dev y | d: R x
         rf w->r, a->e, a->d
         vulkan: race a-d",
    );
    case(
        "Visibility: an availability operation makes nothing visible",
        "P0@0  a: W x | w: W.rel.dev y
         P1@1  r: R.acq.novis.dev y | e: W.coh.dev x | d: R x
         rf w->r, e->d
         vulkan: race a-d",
    );
}

#[test]
fn operations_are_about_their_classes_and_what_precedes_or_follows() {
    publication(
        false,
        "P0@0 a: W.shm x | f: F.rel.buf.blk | w: W.rlx.blk y",
        "P1@0 r: R.acq.blk y | d: R.shm x",
        "Availability Operation: of the fence's storage classes",
    );
    publication(
        false,
        "P0@0 a: W.shm x | w: W.rel.blk y",
        "P1@0 r: R.rlx.blk y | f: F.acq.buf.blk | d: R.shm x",
        "Visibility Operation: likewise",
    );
    publication(
        true,
        "P0@0 a: W.shm x | w: W.rel.blk y",
        "P1@0 r: R.rlx.blk y | f: F.acq.blk | d: R.shm x",
        "Visibility Operation: of block shared memory too",
    );
    case(
        "Availability Operation: of the writes before it (Vulkan-MemoryModel #40)",
        "P0@0  w: W.rel.noav.dev y | f: F.rel.dev | a: W x
         P1@1  r: R.acq.dev y | d: R x
         rf w->r, init->d
         vulkan: race a-d",
    );
    case(
        "Visibility Operation: a write behind it does not make another available",
        "P0@0  a: W x | f: F.acq.dev | w: W.rel.noav.dev y
         P1@1  r: R.acq.dev y | d: R x
         rf w->r, init->d
         vulkan: race a-d",
    );
    case(
        "Visibility Operation: a release behind it does not make visible",
        "P0@0  a: W x | w: W.rel.dev y
         P1@1  r: R.acq.novis.dev y | f: F.rel.dev | d: R x
         rf w->r, init->d
         vulkan: race a-d",
    );
}

#[test]
fn chains_reach_as_far_as_their_scope() {
    for (scope, here, there, far) in [
        ("sg", "0/0/0/0", "0/0/0/0", "0/0/0/1"),
        ("blk", "0/0/0/0", "0/0/0/1", "0/0/1/0"),
        ("qf", "0/0/0/0", "0/0/1/0", "0/1/0/0"),
        ("dev", "0/0/0/0", "0/1/0/0", "1/0/0/0"),
    ] {
        let writer = format!("P0@{here} a: W x | w: W.rel.{scope} y");
        let reader = |place: &str| format!("P1@{place} r: R.acq.{scope} y | d: R x");
        publication(true, &writer, &reader(there), &format!("Availability Chains: {scope} within its group"));
        case(
            &format!("Scope: {scope} beyond its group"),
            &format!("{writer}\n{}\nrf w->r, init->d\nvulkan: race a-d, w-r", reader(far)),
        );
        // Synchronization reaches the whole device here, so that only availability and visibility make the difference.
        let narrow = format!("P0@{here} a: W x | f: F.rel.{scope} | w: W.rel.noav.sys y");
        let wide = "P1@PLACE r: R.acq.novis.sys y | g: F.acq.sys | d: R x";
        let at = |place: &str| wide.replace("PLACE", place);
        publication(true, &narrow, &at(there), &format!("Availability: {scope} reaches its group"));
        publication(scope == "dev", &narrow, &at(far), &format!("Availability: {scope} reaches no further"));
        let narrow = |place: &str| format!("P1@{place} r: R.acq.novis.sys y | g: F.acq.{scope} | d: R x");
        let wide = format!("P0@{here} a: W x | f: F.rel.sys | w: W.rel.noav.sys y");
        publication(true, &wide, &narrow(there), &format!("Visibility: {scope} reaches its group"));
        publication(scope == "dev", &wide, &narrow(far), &format!("Visibility: {scope} reaches no further"));
    }
}

#[test]
fn chains_are_handed_on_by_accesses() {
    case(
        "Availability Chains: atomics of growing scopes hand a write on",
        "P0@0  a: W x | b: W.rel.blk y
         P1@0  c: R.acq.blk y | e: W.rel.dev z
         P2@1  g: R.acq.dev z | d: R x
         rf b->c, e->g, init->d
         vulkan: forbidden consistency",
    );
    case(
        "Visibility Chains: and of narrowing ones",
        "P0@1  a: W x | b: W.rel.dev y
         P1@0  c: R.acq.dev y | e: W.rel.blk z
         P2@0  g: R.acq.blk z | d: R x
         rf b->c, e->g, init->d
         vulkan: forbidden consistency",
    );
    case(
        "Availability Chains: fences of different scopes do not, as no operation is about a fence",
        "P0@0  a: W x | f: F.rel.blk | b: W.rlx.blk y
         P1@0  c: R.rlx.blk y | h: F.acq.blk | i: F.rel.dev | e: W.rlx.dev z
         P2@1  g: R.rlx.dev z | j: F.acq.dev | d: R x
         rf b->c, e->g, init->d
         vulkan: race a-d",
    );
    case(
        "Visibility Chains: nor to narrower ones",
        "P0@1  a: W x | f: F.rel.dev | b: W.rlx.dev y
         P1@0  c: R.rlx.dev y | h: F.acq.dev | i: F.rel.blk | e: W.rlx.blk z
         P2@0  g: R.rlx.blk z | j: F.acq.blk | d: R x
         rf b->c, e->g, init->d
         vulkan: race a-d",
    );
    case(
        "Availability Chains: fences of one scope do",
        "P0@0  a: W x | f: F.rel.dev | b: W.rlx.dev y
         P1@0  c: R.rlx.dev y | h: F.acq.dev | i: F.rel.dev | e: W.rlx.dev z
         P2@1  g: R.rlx.dev z | j: F.acq.dev | d: R x
         rf b->c, e->g, init->d
         vulkan: forbidden consistency",
    );
    case(
        "Availability Chains: through every scope there is",
        "P0@0/0/0/0  a: W x | b: W.rel.sg y
         P1@0/0/0/0  c: R.acq.sg y | e: W.rel.blk z
         P2@0/0/0/1  g: R.acq.blk z | h: W.rel.qf u
         P3@0/0/1/0  i: R.acq.qf u | j: W.rel.dev v
         P4@0/1/0/0  k: R.acq.dev v | d: R x
         rf b->c, e->g, h->i, j->k, init->d
         vulkan: forbidden consistency",
    );
    case(
        "Visibility Chains: and back",
        "P0@0/1/0/0  a: W x | b: W.rel.dev y
         P1@0/0/1/0  c: R.acq.dev y | e: W.rel.qf z
         P2@0/0/0/1  g: R.acq.qf z | h: W.rel.blk u
         P3@0/0/0/0  i: R.acq.blk u | j: W.rel.sg v
         P4@0/0/0/0  k: R.acq.sg v | d: R x
         rf b->c, e->g, h->i, j->k, init->d
         vulkan: forbidden consistency",
    );
    case(
        "Availability Chains: not across a gap: a subgroup's release is handed on within it",
        "P0@0/0/0/0  a: W x | b: W.rel.sg y | o: W.rel.noav.dev s
         P2@0/0/0/1  p: R.acq.dev s | h: W.rel.dev u
         P4@0/1/0/0  k: R.acq.dev u | d: R x
         rf o->p, h->k, init->d
         vulkan: race a-d",
    );
}

#[test]
fn location_order() {
    case(
        "Location-Ordered: a write before a write needs availability, not visibility",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  c: R.acq.novis.dev y | d: W x
         rf b->c
         vulkan: allowed
         vulkan: coherence a->d
         vulkan: not-coherence d->a",
    );
    case(
        "Location-Ordered: but that",
        "P0@0  a: W x | b: W.rel.noav.dev y
         P1@1  c: R.acq.dev y | d: W x
         rf b->c
         vulkan: race a-d",
    );
    case(
        "Location-Ordered: and both are shared",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  c: R.acq.dev y | d: W.priv x
         rf b->c
         vulkan: race a-d",
    );
    case(
        "Location-Ordered: a read before a write needs neither",
        "P0@0  a: R x | b: W.rel.noav.dev y
         P1@1  c: R.acq.novis.dev y | d: W x
         rf init->a, b->c
         vulkan: allowed
         vulkan: ordered a->d
         vulkan: not-ordered d->a",
    );
    case(
        "Location-Ordered: but to be shared",
        "P0@0  a: R.priv x | b: W.rel.dev y
         P1@1  c: R.acq.dev y | d: W x
         rf init->a, b->c
         vulkan: race a-d",
    );
    case(
        "Location-Ordered: on both sides",
        "P0@0  a: R x | b: W.rel.dev y
         P1@1  c: R.acq.dev y | d: W.priv x
         rf init->a, b->c
         vulkan: race a-d",
    );
    case(
        "Location-Ordered: by program order, for private accesses too",
        "P0@0  a: W.priv x | d: R.priv x
         rf init->d
         vulkan: forbidden consistency",
    );
    case(
        "Location-Ordered: by one reference",
        "P0@0  a: W x | d: R x'
         rf init->d
         vulkan: race a-d",
    );
    case(
        "Location-Ordered: between accesses of one place",
        "P0@0  a: W x | f: F.rel.dev | b: W.rel.dev y | e: W z
         P1@1  c: R.acq.dev y | d: R x | g: R z
         rf b->c, a->d, init->g
         vulkan: ordered a->d, b->c
         vulkan: not-ordered a->b, a->c, b->d, f->b, a->a, a->g, e->g, a->f",
    );
    case(
        "Location-Ordered: not against happens-before",
        "P0@0  a: R x | b: W.rel.dev y
         P1@1  c: R.acq.dev y | d: W x
         rf b->c, d->a
         vulkan: forbidden consistency",
    );
}

#[test]
fn operations_to_the_device_domain() {
    let chained = |writer: &str, middle: &str, reader: &str, verdict: &str, clause: &str| {
        let order = "launch 0->1\nlaunch 1->2\nrf init->d";
        case(clause, &format!("{writer}\n{middle}\n{reader}\n{order}\nvulkan: {verdict}"));
    };
    let (seen, stale) = ("forbidden consistency", "race a-d");
    chained("P0@0 a: W x", "P1@1 m: MA | n: MV", "P2@2 d: R x", seen, "Device Domain: available, then visible");
    chained("P0@0 a: W x", "P1@1 m: MA | n: MV", "P2@2 d: R x'", seen, "Device Domain: by any reference");
    chained("P0@0 a: W.priv x", "P1@1 m: MA | n: MV", "P2@2 d: R.priv x", seen, "Device Domain: of private accesses");
    chained("P0@0 a: W x", "P1@1 m: MA | n: MA", "P2@2 d: R x", stale, "Device Domain: visibility is needed");
    chained("P0@0 a: W x", "P1@1 m: MV | n: MV", "P2@2 d: R x", stale, "Device Domain: availability is needed");
    chained("P0@0 a: W x", "P1@1 m: MV | n: MA", "P2@2 d: R x", stale, "Device Domain: in this order");
    let order = "launch 0->1\nlaunch 1->2";
    case(
        "Device Domain: a write before a write needs availability alone",
        &format!("P0@0 a: W x\nP1@1 m: MA\nP2@2 d: W x'\n{order}\nvulkan: allowed\nvulkan: coherence a->d"),
    );
    case(
        "Device Domain: which visibility is not",
        &format!("P0@0 a: W x\nP1@1 m: MV\nP2@2 d: W x'\n{order}\nvulkan: race a-d"),
    );
    case(
        "Location-Ordered: a read that the system orders before a write needs neither",
        "P0@0  a: R.priv x
         P1@1  d: W.priv x'
         rf init->a
         launch 0->1
         vulkan: allowed
         vulkan: ordered a->d
         vulkan: not-ordered d->a",
    );
    case(
        "Location-Ordered: a write does",
        "P0@0  a: W x
         P1@1  d: W x
         launch 0->1
         vulkan: race a-d",
    );
}
