//! A kernel of Rust's with its arguments, as the macros make it.

use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

use wattle_ir::builder::{self, Builder, IndexLayout, IndexWidth};
use wattle_ir::{Dim, Rank};

use crate::acc::Acc;
use crate::argument::{Argument, Arguments};
use crate::error::Result;
use crate::host::building;
use crate::kernel::{Kernel, KernelIdentity, KernelInfo, Launch, has_arguments};
use crate::thread::Thread;

/// A kernel of rank `D` with its arguments `A`: what a function with `#[kernel]` returns.
///
/// Its type names no function, so that a wrong argument is one error: that of the argument, and none of what it is
/// passed in.
#[doc(hidden)]
#[must_use = "a kernel that is called is not launched; write `queue.launch(FrameSpec::cover(n, 64), kernel(&x, &mut y))?`"]
pub struct Bundle<const D: usize, A: 'static> {
    info: &'static KernelInfo,
    arguments: A,
    code: &'static Code<A>,
    /// Whether the launch may have 2³² elements or threads or more.
    is_long: bool,
}

/// The functions of a kernel, the host's and the builder's within.
struct Code<A> {
    /// Runs one thread on the host.
    ///
    /// # Safety
    /// The requirements are those of [`Kernel::run`].
    run: unsafe fn(&A, &'static [&'static str], &Thread<'_>),
    /// Builds the kernel with the parameters of these names.
    build: fn(&Builder, &'static [&'static str]),
    identity: fn() -> KernelIdentity,
}

/// A kernel of the host's function `H` and the builder `I`, whose safety is not promised yet: the macro makes it of the
/// user's words, and then promises in an `unsafe` block without any of them what it has made sure of.
#[doc(hidden)]
pub struct Draft<const D: usize, A, H, I> {
    info: &'static KernelInfo,
    arguments: A,
    functions: PhantomData<(H, I)>,
}

impl<const D: usize, A, H, I> Draft<D, A, H, I>
where
    Dim<D>: Rank,
    A: Arguments,
    H: Fn(&Acc<'_, D>, A::Views) + Copy + Send + Sync + 'static,
    I: for<'b> Fn(&'b Builder, builder::Acc<'b, D>, A::Built<'b>) + Copy + Send + Sync + 'static,
{
    const CODE: Code<A> = Code {
        run: Self::run,
        build: Self::build,
        // Each instance of a generic kernel has closures of its own.
        identity: || KernelIdentity::of::<I>(0),
    };

    /// A kernel of these parts, not yet promised to be safe. Functions that the kernel was given are known by their
    /// types alone, as which it is built and kept.
    #[inline(always)]
    pub fn new(info: &'static KernelInfo, arguments: A, _: H, _: I) -> Self {
        const {
            assert!(
                size_of::<H>() == 0 && size_of::<I>() == 0,
                "a kernel is compiled for one function: give it by its name, not as a variable that holds one of several"
            );
        }
        Draft { info, arguments, functions: PhantomData }
    }

    /// The kernel, whose safety the caller promises.
    ///
    /// # Safety
    /// The host's function keeps no view beyond its call and gives none to code that could, and the builder builds the
    /// same kernel whenever it is called.
    #[inline(always)]
    pub unsafe fn vouch(self) -> Bundle<D, A> {
        Bundle { info: self.info, arguments: self.arguments, code: const { &Self::CODE }, is_long: false }
    }

    /// # Safety
    /// The requirements are those of [`Kernel::run`].
    unsafe fn run(arguments: &A, names: &'static [&'static str], thread: &Thread<'_>) {
        const { assert!(!std::mem::needs_drop::<A::Views>(), "views are pointers into buffers that the launch keeps") };
        // SAFETY: the caller's promise.
        let views = unsafe { arguments.views(names, thread) };
        // SAFETY: the draft was made with such a function, which has no size.
        let host: H = unsafe { unit() };
        // The loop is here, where the compiler sees the kernel's function: the next thread costs no call and no new
        // views.
        loop {
            // SAFETY: they would be made again from the same arguments, of the same `thread`, and nothing drops them.
            let own = unsafe { std::ptr::read(&views) };
            host(&Acc::new(thread), own);
            if !thread.next(D) {
                return;
            }
        }
    }

    fn build(builder: &Builder, names: &'static [&'static str]) {
        let arguments = A::built(builder, names);
        // SAFETY: the draft was made with such a function, which has no size.
        let build: I = unsafe { unit() };
        build(builder, builder::Acc::new(builder), arguments);
    }
}

/// The value of a type that has one, of no size.
///
/// # Safety
/// The type has no size, and the program has had a value of it.
#[inline(always)]
unsafe fn unit<T: Copy>() -> T {
    // SAFETY: reading nothing is valid at any aligned pointer, and copies the value that there was.
    unsafe { NonNull::<T>::dangling().read() }
}

// SAFETY: the rank is `D`.
#[diagnostic::do_not_recommend]
unsafe impl<const D: usize, A: Arguments> Launch<D> for Bundle<D, A> {}

// SAFETY: `run` gives the kernel's function views of the arguments and nothing else.
unsafe impl<const D: usize, A: Arguments> Kernel for Bundle<D, A> {
    fn info(&self) -> &'static KernelInfo {
        self.info
    }

    fn rank(&self) -> usize {
        D
    }

    #[inline]
    fn argument(&self, number: usize) -> Option<Argument<'_>> {
        self.arguments.argument(number, self.info.parameters)
    }

    #[inline]
    unsafe fn run(&self, thread: &Thread<'_>) {
        // SAFETY: the caller's promise.
        unsafe { (self.code.run)(&self.arguments, self.info.parameters, thread) }
    }

    fn build(&self) -> Result<wattle_ir::Kernel> {
        self.build_with(IndexLayout::Strided)
    }

    fn build_with(&self, layout: IndexLayout) -> Result<wattle_ir::Kernel> {
        let width = match (self.info.wide, self.is_long) {
            (false, _) => IndexWidth::Word,
            (true, false) => IndexWidth::Fitting,
            (true, true) => IndexWidth::Long,
        };
        let built = building(|| {
            let builder = Builder::new(self.info.name, self.info.site, D).with_width(width).with_index_layout(layout);
            (self.code.build)(&builder, self.info.parameters);
            builder.finish()
        })?;
        // Each time: devices lay arguments out as what they have built says.
        has_arguments(self, &built)?;
        Ok(built)
    }

    fn identity(&self) -> KernelIdentity {
        (self.code.identity)().in_long_launch(self.is_long)
    }

    fn to_arc(&self) -> Arc<dyn Kernel> {
        let Bundle { info, code, is_long, .. } = *self;
        Arc::new(Bundle::<D, A> { info, arguments: self.arguments.clone(), code, is_long })
    }

    fn for_long_launch(&self) -> Option<Arc<dyn Kernel>> {
        self.info.wide.then(|| -> Arc<dyn Kernel> {
            let Bundle { info, code, .. } = *self;
            Arc::new(Bundle::<D, A> { info, arguments: self.arguments.clone(), code, is_long: true })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use wattle_ir::{Access, Site};

    use super::*;

    #[test]
    fn what_declares_other_parameters_later_is_not_built() {
        static INFO: KernelInfo = KernelInfo::new("grows", Site { file: file!(), line: line!(), column: 1 }, &[]);
        static BUILT: AtomicBool = AtomicBool::new(false);
        fn build(builder: &Builder, _: builder::Acc<'_, 1>, (): ()) {
            if BUILT.swap(true, Ordering::Relaxed) {
                builder.view::<u64>("mine", Access::Shared, 1);
            }
        }
        let host = |_: &Acc<'_, 1>, (): ()| ();
        let draft = Draft::new(&INFO, (), host, |builder: &_, acc, views| build(builder, acc, views));
        // SAFETY: it is never run.
        let kernel = unsafe { draft.vouch() };
        assert!(kernel.build().is_ok());
        let error = kernel.build().unwrap_err().to_string();
        assert!(error.contains("`grows` has the parameters (mine: Shared<u64, 1>), and was given ()"), "{error}");
    }
}
