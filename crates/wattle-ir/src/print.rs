//! Prints kernels.
