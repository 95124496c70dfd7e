//! Work of a given size reports at once that it needs more memory than there is.

use wattle::{Device, ErrorKind};
use wattle_kernels::stream::stream;

#[test]
fn stream_says_what_it_needs() {
    for device in [Device::host(), Device::host_serial()] {
        for n in [1 << 50, usize::MAX] {
            let error = stream(&device, n).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::OutOfMemory { .. }), "{error}");
            let needed = (n as u64).saturating_mul(8).saturating_mul(4).to_string();
            assert!(error.to_string().contains(&format!("needs {needed} bytes")), "{error}");
        }
    }
}
