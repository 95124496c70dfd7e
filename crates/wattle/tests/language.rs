//! What kernels can say works: each kernel here writes what it computes to a buffer, which is compared with plain Rust
//! on every device, and its intermediate representation is built and verified.
#![forbid(unsafe_code)]
#![deny(missing_docs, warnings, clippy::all)]

#[macro_use]
mod support {
    /// Whether the device has a driver, and says that it lacks what the kernel needs; then it is said and passed over.
    pub fn lacks(device: &wattle::Device, error: &wattle::Error) -> bool {
        let driver = matches!(device.properties().kind, wattle::DeviceKind::Gpu | wattle::DeviceKind::Software);
        let lacks = driver && matches!(error.kind(), wattle::ErrorKind::Capability { .. });
        if lacks {
            println!("not possible on {}: {error}", device.name());
        }
        lacks
    }

    /// Launches the kernel on every device and compares what it leaves in `out` with `$expected`.
    macro_rules! expect {
        ($spec:expr, $expected:expr, |$device:ident, $out:ident| $kernel:expr) => {{
            let expected = $expected;
            for $device in wattle::Device::all() {
                let queue = $device.queue().unwrap();
                #[allow(unused_mut, reason = "some kernels take it exclusively")]
                let mut $out = $device.from_slice(&vec![Default::default(); expected.len()]).unwrap();
                let kernel = $kernel;
                if let Err(error) = wattle::Kernel::build(&kernel) {
                    panic!("{}: {error}", wattle::Kernel::info(&kernel).name);
                }
                match queue.launch($spec, kernel) {
                    Err(error) if crate::support::lacks(&$device, &error) => continue,
                    launched => launched.unwrap(),
                }
                assert_eq!($out.read(&queue).unwrap(), expected, "on {}", $device.properties().name);
            }
        }};
    }

    /// Launches the kernel on every device, which must report a fault with each of the texts, and compares.
    macro_rules! expect_fault {
        ($expected:expr, [$($text:expr),+], |$out:ident| $kernel:expr) => {{
            let expected = $expected;
            for device in wattle::Device::all() {
                let queue = device.queue().unwrap();
                let $out = device.from_slice(&vec![Default::default(); expected.len()]).unwrap();
                let kernel = $kernel;
                if let Err(error) = wattle::Kernel::build(&kernel) {
                    panic!("{}: {error}", wattle::Kernel::info(&kernel).name);
                }
                let error = queue.launch(wattle::ThreadSpec::new(1, 1), kernel).unwrap_err();
                if crate::support::lacks(&device, &error) {
                    continue;
                }
                let error = error.to_string();
                $(assert!(error.contains(&$text), "`{}` is not in `{error}` on {}", $text, device.properties().name);)+
                let queue = device.queue().unwrap();
                assert_eq!($out.read(&queue).unwrap(), expected, "on {}", device.properties().name);
            }
        }};
    }
}

#[path = "language/arithmetic.rs"]
mod arithmetic;
#[path = "language/control.rs"]
mod control;
#[path = "language/functions.rs"]
mod functions;
#[path = "language/hygiene.rs"]
mod hygiene;
#[path = "language/maps.rs"]
mod maps;
#[path = "language/memory.rs"]
mod memory;
#[path = "language/names.rs"]
mod names;
#[path = "language/values.rs"]
mod values;
