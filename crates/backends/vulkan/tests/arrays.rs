//! Arrays private to a thread: they work, or are refused before anything is built.

mod common;

use wattle::ErrorKind;
use wattle::prelude::*;

macro_rules! kernels {
    ($($name:ident $len:literal;)*) => {$(
        #[kernel]
        fn $name(acc: &Acc, out: Shared<f32>) {
            let mut array = [0.0f32; $len];
            let thread = acc.linear_thread_in_grid();
            array[(thread * 7u32) % $len] = 1.0f32;
            let mut sum = 0.0f32;
            for i in 0..$len {
                sum += array[i] * ((i + thread) as f32);
            }
            out[thread] = sum;
        }
    )*};
}
kernels! {
    few 400;
    many 2048;
    most 4096;
}

#[test]
fn an_array_works_or_is_refused_at_the_launch() {
    for device in common::devices() {
        let queue = device.queue().unwrap();
        let out = device.alloc_zeroed::<f32>(3).unwrap();
        queue.launch(ThreadSpec::new(1, 3), few(&out)).unwrap();
        assert_eq!(out.read(&queue).unwrap(), [0.0, 8.0, 16.0], "{}", device.name());
        for (len, launched) in [
            (2048, queue.launch(ThreadSpec::new(1, 3), many(&out))),
            (4096, queue.launch(ThreadSpec::new(1, 3), most(&out))),
        ] {
            let error = match launched {
                Ok(()) => {
                    assert_eq!(out.read(&queue).unwrap(), [0.0, 8.0, 16.0], "{len} on {}", device.name());
                    continue;
                }
                Err(error) => error,
            };
            assert!(matches!(error.kind(), ErrorKind::Capability { .. }), "{len} on {}: {error}", device.name());
            let said = error.to_string();
            for part in [format!("[f32; {len}]"), format!("{} bytes", 4 * len), "at the most".to_owned()] {
                assert!(said.contains(&part), "{part} is not in: {said}");
            }
            // The device remains usable.
            queue.launch(ThreadSpec::new(1, 3), few(&out)).unwrap();
        }
    }
    common::no_messages();
}
