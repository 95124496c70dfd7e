//! Drivers that cannot be used, and the reasons given. Each test runs in a process of its own.

mod common;

use common::{in_a_child, is_a_child, passed, soft_devices};
use wattle::{Device, DeviceKind};

/// In the child process: there is no device, and the reason has these words.
fn none_because(words: &[&str]) {
    let found = wattle_cuda::survey();
    assert!(found.devices.is_empty(), "{:?}", found.devices);
    let reason = &found.missing[0].reason;
    eprintln!("{reason}");
    for word in words {
        assert!(reason.contains(word), "{reason}");
    }
    let error = Device::select("cuda").unwrap_err().to_string();
    assert!(error.contains(reason), "{error}");
    assert!(Device::select("cuda:0").is_err() && Device::select("cuda:h100").is_err());
}

#[test]
fn none_at_all() {
    // The loader looks where it looks without this variable, too; with soft-cuda alone there is no driver there.
    let soft = |device: &Device| device.properties().kind == DeviceKind::Software;
    let is_soft = wattle_cuda::survey().devices.iter().any(soft);
    match in_a_child("none_at_all", &[("LD_LIBRARY_PATH", "")]) {
        Some(output) => passed(&output),
        None if wattle_cuda::survey().devices.is_empty() => none_because(&["install NVIDIA's driver"]),
        None => assert!(!is_soft, "soft-cuda is where every program finds it"),
    }
}

fn soft_with(test: &str, variables: &[(&str, &str)], in_child: impl FnOnce()) {
    if !is_a_child() && soft_devices().is_empty() {
        return;
    }
    match in_a_child(test, variables) {
        Some(output) => passed(&output),
        None => in_child(),
    }
}

#[test]
fn too_old() {
    let words = ["is for CUDA 11.8", "12.0 is the oldest", "install NVIDIA's driver"];
    soft_with("too_old", &[("SOFT_CUDA_DRIVER", "11080")], || none_because(&words));
}

/// A library with the driver's name that is no driver.
#[test]
fn no_driver() {
    let folder = std::env::temp_dir().join(format!("wattle-cuda-none-{}", std::process::id()));
    let folder = folder.to_str().unwrap();
    if !is_a_child() {
        std::fs::create_dir_all(folder).unwrap();
        let (source, library) = (format!("{folder}/none.c"), format!("{folder}/libcuda.so"));
        std::fs::write(&source, "int nothing;").unwrap();
        let made = std::process::Command::new("cc").args(["-shared", "-fPIC", "-o", &library, &source]).status();
        if !made.is_ok_and(|status| status.success()) {
            test_skips::skipped("there is no C compiler");
            return;
        }
    }
    match in_a_child("no_driver", &[("LD_LIBRARY_PATH", folder)]) {
        Some(output) => {
            passed(&output);
            std::fs::remove_dir_all(folder).unwrap();
        }
        None => none_because(&["lacks cuInit", "install NVIDIA's driver"]),
    }
}

#[test]
fn no_device() {
    soft_with("no_device", &[("SOFT_CUDA_DEVICES", "0")], || none_because(&["CUDA_VISIBLE_DEVICES"]));
}

#[test]
fn does_not_start() {
    let words = ["cannot be started", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "start the machine again"];
    soft_with("does_not_start", &[("SOFT_CUDA_INIT_ERROR", "803")], || none_because(&words));
}

/// Newer drivers return errors that this crate does not know.
#[test]
fn an_error_that_is_unknown() {
    let words = ["cannot be started", "error 12345"];
    soft_with("an_error_that_is_unknown", &[("SOFT_CUDA_INIT_ERROR", "12345")], || none_because(&words));
}

#[test]
fn a_stub() {
    soft_with("a_stub", &[("SOFT_CUDA_INIT_ERROR", "34")], || none_because(&["the toolkit's stub"]));
}

#[test]
fn an_old_device() {
    soft_with("an_old_device", &[("SOFT_CUDA_SM", "61")], || none_because(&["compute capability 6.1"]));
}

#[test]
fn older_devices_and_drivers() {
    let variables = [("SOFT_CUDA_SM", "70"), ("SOFT_CUDA_DRIVER", "12000"), ("WATTLE_CACHE_DIR", "")];
    soft_with("older_devices_and_drivers", &variables, || {
        let device = Device::select("cuda").unwrap();
        assert!(device.properties().description.contains("compute capability 7.0, CUDA 12.0"));
        let x = device.from_slice(&[1u32, 2, 3]).unwrap();
        assert_eq!(x.read(&device.queue().unwrap()).unwrap(), [1, 2, 3]);
    });
}

#[test]
fn two_devices() {
    soft_with("two_devices", &[("SOFT_CUDA_DEVICES", "2")], || {
        let devices = wattle_cuda::survey().devices;
        let names: Vec<_> = devices.iter().map(Device::name).collect();
        assert_eq!(names, ["cuda:0", "cuda:1"]);
        let [first, second] = [0, 1].map(|number: usize| devices[number].clone());
        let x = first.from_slice(&(0..1000u32).collect::<Vec<_>>()).unwrap();
        let mut y = second.alloc_zeroed_nd::<u32, 2>([20, 100]).unwrap();
        let part = y.region_mut([3, 10], [13, 20]).unwrap();
        let queue = second.queue().unwrap();
        let mut square = first.alloc_nd::<u32, 2>([10, 10]).unwrap();
        let host: Vec<u32> = x.read(&first.queue().unwrap()).unwrap()[..100].to_vec();
        first.queue().unwrap().copy_from_host(&mut square, &host).unwrap();
        queue.copy(part, &square).unwrap();
        let read = y.read(&queue).unwrap();
        assert_eq!((read[310], read[319], read[320], read[410], read[1219]), (0, 9, 0, 10, 99));
    });
}
