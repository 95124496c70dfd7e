//! A draft that nobody has vouched for is no kernel.

use wattle::__private::{Acc, Draft, KernelInfo, Site, builder};
use wattle::prelude::*;

static INFO: KernelInfo = KernelInfo::new("does", Site { file: "", line: 0, column: 0 }, &[]);

fn main() {
    let draft = Draft::new(&INFO, (), |_: &Acc<'_>, ()| {}, |_: &builder::Builder, _: builder::Acc<'_>, ()| {});
    Device::host().queue().unwrap().launch(ThreadSpec::new(1, 1), draft).unwrap();
}
