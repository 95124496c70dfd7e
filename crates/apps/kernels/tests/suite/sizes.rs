//! Work of a given size reports at once that it needs more memory than there is.

use wattle::{Device, ErrorKind};
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
