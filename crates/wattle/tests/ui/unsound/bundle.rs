//! A bundle of a closure, which could keep the views that it is given.

use std::cell::Cell;

use wattle::__private::{Acc, Draft, IntoArg, KernelInfo, Site, builder};
use wattle::prelude::*;

thread_local!(static KEPT: Cell<Option<Read<u32>>> = const { Cell::new(None) });

static INFO: KernelInfo = KernelInfo::new("keeps", Site { file: "", line: 0, column: 0 }, &["x"]);

fn main() {
    let device = Device::host_serial();
    let x = device.alloc_zeroed::<u32>(1).unwrap();
    let draft = Draft::new(
        &INFO,
        (IntoArg::<Read<u32>>::into_arg(&x),),
        |_: &Acc<'_>, (x,)| KEPT.set(Some(x)),
        |_: &builder::Builder, _: builder::Acc<'_>, _| {},
    );
    device.queue().unwrap().launch(ThreadSpec::new(1, 1), draft.vouch()).unwrap();
}
