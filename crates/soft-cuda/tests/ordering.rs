//! Fences between threads that run at the same time, on threads of the host.

mod tools;

use tools::{Session, kernel, ok};

/// How often the two threads meet.
const ROUNDS: u64 = 200_000;

/// Store buffering: each of two threads writes its own word, and reads the other's behind a fence. One of them sees what
/// the other wrote (PTX ISA 8.5, 8.9.3 and 8.10.2); without the fence a processor of the host lets both miss it, and did
/// so in hundreds of these rounds.
#[test]
fn a_sequentially_consistent_fence_orders_a_store_before_a_load() {
    let session = Session::new();
    // Words 0 and 1 count arrivals, 8 and 16 are written and read, 24 and 25 say who saw nothing in the last round, 26 in
    // how many rounds neither saw anything. What is written is the number of the round, so nothing is reset.
    let code = |own: u32, other: u32, mine: u32, theirs: u32| {
        format!(
            "mov.u64 %i0, 0;
             AGAIN:
             add.u64 %i0, %i0, 1;
             st.relaxed.gpu.global.u64 [%io+{mine}], %i0;
             MEET:
             ld.relaxed.gpu.global.u64 %i1, [%io+{theirs}];
             setp.lt.u64 %p0, %i1, %i0;
             @%p0 bra MEET;
             st.relaxed.gpu.global.u64 [%io+{own}], %i0;
             fence.sc.gpu;
             ld.relaxed.gpu.global.u64 %i2, [%io+{other}];
             setp.lt.u64 %p1, %i2, %i0;
             selp.u64 %i3, %i0, 0, %p1;
             st.relaxed.gpu.global.u64 [%io+{missed}], %i3;
             fence.sc.gpu;
             st.relaxed.gpu.global.u64 [%io+{done}], %i0;
             LEAVE:
             ld.relaxed.gpu.global.u64 %i1, [%io+{left}];
             setp.lt.u64 %p0, %i1, %i0;
             @%p0 bra LEAVE;
             ld.relaxed.gpu.global.u64 %i4, [%io+{both}];
             setp.eq.u64 %p2, %i3, %i0;
             setp.eq.and.u64 %p2, %i4, %i0, %p2;
             @!%p2 bra FINE;
             add.u64 %i5, %i5, 1;
             FINE:
             setp.lt.u64 %p0, %i0, {ROUNDS};
             @%p0 bra AGAIN;
             st.global.u64 [%io+{count}], %i5;",
            missed = 512 + own,
            both = 512 + other,
            done = 1024 + own,
            left = 1024 + other,
            count = 1536 + own,
        )
    };
    let at = session.device(&[0; 512]);
    for (own, other, mine, theirs) in [(64, 192, 2048, 2176), (192, 64, 2176, 2048)] {
        let function = session.function(&kernel(&format!("mov.u64 %i5, 0;\n{}", code(own, other, mine, theirs))), "k");
        ok(session.launch(function, 1, 1, session.stream(), &[at]));
    }
    ok(session.wait());
    let counts = session.host(at, 512);
    assert_eq!([counts[(1536 + 64) / 8], counts[(1536 + 192) / 8]], [0, 0], "rounds in which neither saw the other's");
}
