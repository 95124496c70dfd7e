//! The meaning of rows of the lowering table: kernels lowered by hand, as the table requires and as it forbids, judged
//! by the target's model.

use crate::notation::case;

/// Store buffering: of two threads with a sequentially consistent fence each, one sees the other's write.
#[test]
fn the_hidden_word_stands_for_a_sequentially_consistent_fence() {
    for scope in ["dev", "blk"] {
        let text = |first: &str, second: &str, orders: &str| {
            format!(
                "P0@0  a: W.rlx.dev x | e: F.ar.{scope} | {first}f: F.ar.{scope} | b: R.rlx.dev y
                 P1@0  c: W.rlx.dev y | g: F.ar.{scope} | {second}i: F.ar.{scope} | d: R.rlx.dev x
                 rf init->b, init->d
                 {orders}"
            )
        };
        let order = "rf init->u.r, u.w->v.r\nco u.w->v.w\nvulkan: forbidden consistency";
        let hidden = text("u: U.ar.dev h | ", "v: U.ar.dev h | ", order);
        case("barrier, update of the hidden word, barrier: store buffering is gone", &hidden);
        case("the barriers alone do not do that", &text("", "", "vulkan: allowed"));
    }
    case(
        "barrier, update of the hidden word: an update alone is no release fence, and a publication through it racy",
        "P0@0  a: W x | u: U.ar.dev h | b: W.rlx.dev y
         P1@1  c: R.rlx.dev y | g: F.acq.dev | d: R x
         rf init->u.r, b->c, init->d
         vulkan: race a-d",
    );
    case(
        "barrier, update of the hidden word, barrier: the barriers make it one",
        "P0@0  a: W x | e: F.ar.dev | u: U.ar.dev h | f: F.ar.dev | b: W.rlx.dev y
         P1@1  c: R.rlx.dev y | g: F.acq.dev | d: R x
         rf init->u.r, b->c, init->d
         vulkan: forbidden consistency",
    );
    case(
        "the hidden word's update has device scope, whatever the fence's is",
        "P0@0  a: W.rlx.dev x | e: F.ar.blk | u: U.ar.blk h | f: F.ar.blk | b: R.rlx.dev y
         P1@1  c: W.rlx.dev y | g: F.ar.dev | v: U.ar.dev h | i: F.ar.dev | d: R.rlx.dev x
         rf init->b, init->d, init->u.r, init->v.r
         vulkan: race u.r-v.w, u.w-v.r, u.w-v.w",
    );
}

/// A block fence passes to its block what another thread published to the device.
#[test]
fn a_block_fence_is_a_device_fence_in_a_kernel_that_uses_wider_scopes() {
    let handed_on = |scope: &str, verdict: &str| {
        let text = format!(
            "P0@0  a: W x | f: F.rel.{scope} | b: W.rlx.{scope} y
             P1@0  c: R.rlx.{scope} y | h: F.acq.{scope} | i: F.rel.dev | e: W.rlx.dev z
             P2@1  g: R.rlx.dev z | j: F.acq.dev | d: R x
             rf b->c, e->g, init->d
             {verdict}"
        );
        case("Block, in a kernel with Device fences", &text);
    };
    handed_on("blk", "ptx portable: forbidden Causality\nvulkan: race a-d");
    handed_on("dev", "vulkan: forbidden consistency");
}

/// A barrier passes to its block what a device fence made visible to one thread, and back.
#[test]
fn a_barrier_has_device_memory_scope_in_a_kernel_that_uses_wider_scopes() {
    let received = |scope: &str, verdict: &str| {
        let text = format!(
            "P0@1  a: W x | f: F.rel.dev | b: W.rlx.dev y
             P1@0  c: R.rlx.dev y | h: F.acq.dev | m: B.ar.{scope}
             P2@0  n: B.ar.{scope} | d: R x
             rf b->c, init->d
             bar m->n, n->m
             {verdict}"
        );
        case("barrier, behind a Device fence", &text);
    };
    received("blk", "ptx portable: forbidden Causality\nvulkan: race a-d");
    received("dev", "vulkan: forbidden consistency");
    let sent = |scope: &str, verdict: &str| {
        let text = format!(
            "P0@0  a: W x | m: B.ar.{scope}
             P1@0  n: B.ar.{scope} | f: F.rel.dev | b: W.rlx.dev y
             P2@1  c: R.rlx.dev y | h: F.acq.dev | d: R x
             rf b->c, init->d
             bar m->n, n->m
             {verdict}"
        );
        case("barrier, before a Device fence", &text);
    };
    sent("blk", "ptx portable: forbidden Causality\nvulkan: race a-d");
    sent("dev", "vulkan: forbidden consistency");
}

/// A barrier orders the block, with all its memory.
#[test]
fn barriers_order_one_block() {
    case(
        "sync_block: global and block memory",
        "P0@0  a: W x | e: W.shm y | m: B.ar.blk
         P1@0  n: B.ar.blk | d: R x | g: R.shm y
         rf init->d, e->g
         bar m->n, n->m
         portable ptx: forbidden Causality
         vulkan: forbidden consistency
         rust: forbidden coherence",
    );
    case(
        "sync_block: block memory",
        "P0@0  a: W x | e: W.shm y | m: B.ar.blk
         P1@0  n: B.ar.blk | d: R x | g: R.shm y
         rf a->d, init->g
         bar m->n, n->m
         portable ptx: forbidden Causality
         vulkan: forbidden consistency
         rust: forbidden coherence",
    );
}

/// A compare-exchange that fails, in PTX and elsewhere: `u` finds the lock taken and leaves it so.
#[test]
fn a_failed_compare_exchange() {
    case(
        "failed_exchange_writes: PTX's writes the old value back, and so hands a release on",
        "P0@0  a: W x | b: W.rel.dev y
         P1@1  u: U.rlx.dev y
         P2@2  c: R.acq.dev y | d: R x
         rf b->u.r, u.w->c, init->d
         co b->u.w
         ptx: forbidden Causality",
    );
    case(
        "failed_exchange_writes: a releasing one publishes what precedes it",
        "P0@0  a: W x | u: U.rel.dev y
         P1@1  c: R.acq.dev y | d: R x
         rf init->u.r, u.w->c, init->d
         ptx: forbidden Causality",
    );
    case(
        "failed_exchange_writes: elsewhere it is a read, and publishes nothing",
        "P0@0  a: W x | u: R.rlx.dev y
         P1@1  c: R.acq.dev y | d: R x
         rf init->u, init->c, init->d
         portable vulkan rust: race a-d",
    );
}

/// MakeAvailable and MakeVisible stand on every fence that the table gives for Vulkan.
#[test]
fn fences_make_available_and_visible() {
    let published = |writer: &str, reader: &str, verdict: &str| {
        let text = format!(
            "P0@0  a: W x | f: F.{writer} | b: W.rlx.dev y
             P1@1  c: R.rlx.dev y | g: F.{reader} | d: R x
             rf b->c, init->d
             vulkan: {verdict}"
        );
        case("release: MakeAvailable; acquire: MakeVisible", &text);
    };
    published("rel.dev", "acq.dev", "forbidden consistency");
    published("ar.dev", "ar.dev", "forbidden consistency");
    published("rel.noav.dev", "acq.dev", "race a-d");
    published("rel.dev", "acq.novis.dev", "race a-d");
}
