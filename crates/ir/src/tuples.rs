//! The tuples that values in kernels may be: of up to twelve members.

/// Calls a macro with the members of each tuple, from one member on, behind what else it is given.
macro_rules! with_tuples {
    ($implement:ident $($before:tt)*) => {
        $implement!($($before)*
            (A 0)(A 0, B 1)(A 0, B 1, C 2)(A 0, B 1, C 2, D 3)(A 0, B 1, C 2, D 3, E 4)(A 0, B 1, C 2, D 3, E 4, F 5)
            (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
            (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
            (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8)
            (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9)
            (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10)
            (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11)
        );
    };
}
