//! So would one whose blocks a user runs by himself.

fn runs(kernel: &dyn wattle::Kernel, thread: &wattle_core::Thread<'_>) {
    kernel.run(thread);
}

fn main() {}
