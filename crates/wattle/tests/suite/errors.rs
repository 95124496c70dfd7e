//! What errors carry for programs: numbers, the error behind them, the kind in a word.

use std::error::Error as _;

use wattle::prelude::*;
use wattle::{ErrorKind, Fault, Limit};

/// Reads one past the end.
#[kernel]
fn beyond(acc: &Acc, x: Shared<u32>) {
    let n = x.len();
    x[acc.block_in_grid()] = x[n];
}

fn limit(error: &Error) -> Option<Limit> {
    match error.kind() {
        ErrorKind::Capability { limit, .. } => *limit,
        _ => panic!("{error}"),
    }
}

#[test]
fn a_missing_capability_says_how_much_was_asked_for_and_how_much_there_is() -> Result<()> {
    let x = |device: &Device| device.alloc_zeroed::<u32>(8);
    let host = Device::host();
    let refused = host.queue()?.launch(ThreadSpec::new(2, 1025), beyond(&x(&host)?)).unwrap_err();
    assert_eq!(limit(&refused), Some(Limit { requested: 1025, available: 1024 }));
    assert_eq!(refused.kind().name(), "capability");
    for device in [host, Device::select("simulated")?] {
        let most = device.properties().max_cooperative_blocks;
        let (options, spec) = (LaunchOptions::new().cooperative(), ThreadSpec::new(most as usize + 1, 1));
        let queue = device.queue()?;
        let refused = queue.launch_with(options, spec, beyond(&x(&device)?)).and_then(|()| queue.wait()).unwrap_err();
        let expected = Limit { requested: u64::from(most) + 1, available: most.into() };
        assert_eq!(limit(&refused), Some(expected), "{refused}");
    }
    let elsewhere = Device::host().alloc_zeroed::<u32>(1)?.map().map(drop);
    assert!(elsewhere.is_ok() || limit(&elsewhere.unwrap_err()).is_none(), "a kind of memory is no number");
    Ok(())
}

#[test]
fn an_error_gives_the_one_that_it_reports() -> Result<()> {
    let device = Device::host();
    let x = device.alloc_zeroed::<u32>(1)?;
    let queue = device.queue()?;
    let error = queue.launch(ThreadSpec::new(1, 1), beyond(&x)).and_then(|()| queue.wait()).unwrap_err();
    let fault = error.source().and_then(|source| source.downcast_ref::<Fault>());
    assert_eq!(fault.map(|fault| fault.kernel.as_str()), Some("beyond"), "{error}");
    assert!(Error::check("a text alone").source().is_none());
    Ok(())
}

/// 200 kB of shared memory.
#[kernel]
fn fills_a_tile(acc: &Acc, count: Atomic<u32>) {
    let tile = acc.shared::<u32, 50_000>();
    tile[acc.thread_in_block()] = 1;
    count.fetch_add(0, 1);
}

/// A target is asked only for what its devices have.
#[test]
fn shared_memory_that_a_target_lacks_is_not_judged() {
    let scenario = |device: &Device| {
        let count = device.alloc_zeroed::<u32>(1)?;
        device.queue()?.launch(ThreadSpec::new(1, 1), fills_a_tile(&count))
    };
    let check = |sm| wattle::checker::Checker::for_target(wattle::memory::Target::Ptx { sm }).check(scenario);
    assert!(check(90).is_ok());
    for sm in [70, 80, 89] {
        let error = check(sm).unwrap_err().to_string();
        assert!(error.contains("200000 bytes of shared memory"), "{error}");
    }
}
