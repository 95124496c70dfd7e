//! Work of a given size reports at once that it needs more memory than there is.

use wattle::{Device, ErrorKind, Work};
use wattle_kernels::stream::stream;

#[test]
fn stream_says_what_it_needs() {
    for device in [Device::host(), Device::host_serial()] {
        for n in [1 << 50, usize::MAX] {
            let error = stream(&device, n).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::OutOfMemory { .. }), "{error}");
            let bytes = (n as u64).checked_mul(8 * 4);
            let needed = bytes.map_or("more bytes than 64 bits can count".to_owned(), |bytes| format!("{bytes} bytes"));
            assert!(error.to_string().contains(&format!("needs {needed},")), "{error}");
        }
    }
}

/// What a scenario does on the host, with arrays of its own to compare with, ends the process if there is no memory for them.
#[test]
fn every_scenario_with_arrays_on_the_host_says_so() {
    let mut asked = 0;
    for scenario in wattle_kernels::all() {
        let Work::Sized(work, _) = scenario.work else { continue };
        // These go on in rounds, or in blocks, and have little memory or buffers alone.
        let arrays = ["block-scan", "chained-scan", "histogram", "last-block-sum", "matrix-", "stencil-2d", "stream"];
        if !arrays.iter().any(|name| scenario.name.starts_with(name)) {
            continue;
        }
        for n in [1 << 45, usize::MAX] {
            let error = work(&Device::host(), n).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::OutOfMemory { .. }), "{}: {error}", scenario.name);
        }
        asked += 1;
    }
    assert_eq!(asked, 9);
}

/// A kernel's counts are `u32`, to which a greater number would be a small one.
#[test]
fn counts_of_33_bits_are_not_taken_for_small_ones() {
    let counted = [
        "block-fence",
        "dekker",
        "deque-",
        "grid-barrier",
        "lock-",
        "peterson",
        "queue-",
        "reader-writer-lock",
        "ring-",
        "sense-barrier",
        "seqlock",
        "textbook-lock",
    ];
    for prefix in counted {
        let mut asked = 0;
        for scenario in wattle_kernels::all().iter().filter(|scenario| scenario.name.starts_with(prefix)) {
            let Work::Sized(work, _) = scenario.work else { continue };
            for n in [1 << 32, usize::MAX] {
                let error = work(&Device::host_serial(), n).unwrap_err();
                assert!(
                    matches!(error.kind(), ErrorKind::Capability { limit: Some(_), .. }),
                    "{}: {error}",
                    scenario.name
                );
            }
            asked += 1;
        }
        assert!(asked > 0, "there is none of `{prefix}`");
    }
    // What all blocks together count is too much.
    for scenario in [wattle_kernels::locks::test_and_set, wattle_kernels::grid_barrier::grid_barrier] {
        let error = scenario(&Device::select("simulated").unwrap(), 1 << 31).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Capability { limit: Some(_), .. }), "{error}");
    }
}
