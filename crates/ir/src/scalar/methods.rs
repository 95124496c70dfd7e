//! How the tables of operations become the methods of the classes of numbers: their declarations, and what they compute
//! on each kind of number.

/// What follows where the first two words, names of classes, are the same one.
macro_rules! only {
    (Number Number $($items:tt)*) => { $($items)* };
    (Signed Signed $($items:tt)*) => { $($items)* };
    (Int Int $($items:tt)*) => { $($items)* };
    (Word Word $($items:tt)*) => { $($items)* };
    (Float Float $($items:tt)*) => { $($items)* };
    ($wanted:ident $class:ident $($items:tt)*) => {};
}

/// The type of an operand.
macro_rules! operand_type {
    () => {
        Self
    };
    ($of:ident) => {
        $of
    };
}
pub(crate) use operand_type;

/// What an operation means on a type of this kind: the first of its meanings that fits, 0 where none does.
macro_rules! meaning {
    ($row:ident {any: $value:expr, $($rest:tt)*}) => { $value };
    (bool {bool: $value:expr, $($rest:tt)*}) => { $value };
    (unsigned {int: $value:expr, $($rest:tt)*}) => { $value };
    (signed {int: $value:expr, $($rest:tt)*}) => { $value };
    (signed {signed: $value:expr, $($rest:tt)*}) => { $value };
    (word {int: $value:expr, $($rest:tt)*}) => { $value };
    (word {word: $value:expr, $($rest:tt)*}) => { $value };
    (float {float: $value:expr, $($rest:tt)*}) => { $value };
    (half {float: $value:expr, half: $half:expr, $($rest:tt)*}) => { $half };
    (half {float: $value:expr, $($rest:tt)*}) => { $value };
    ($row:ident {$other:ident: $value:expr, $($rest:tt)*}) => { crate::scalar::meaning!($row {$($rest)*}) };
    (half {$(,)?}) => { 0.0f32 };
    ($row:ident {$(,)?}) => { 0u64 };
}
pub(crate) use meaning;

/// An operand as it is computed with: floats of 16 bits as `f32`.
macro_rules! widened {
    (half $x:expr) => {
        crate::half::Half::widen($x)
    };
    (half $x:expr, Self) => {
        crate::half::Half::widen($x)
    };
    ($row:ident $x:expr $(, $of:ident)?) => {
        $x
    };
}
pub(crate) use widened;

/// A result of type `Self` or another one, from what was computed with.
macro_rules! narrowed {
    (half Self $value:expr) => {
        <Self as crate::half::Half>::narrow($value)
    };
    ($row:ident $out:ident $value:expr) => {
        $value
    };
}
pub(crate) use narrowed;

/// The methods of a class of numbers, without their bodies.
macro_rules! declare {
    ($wanted:ident $($arity:ident {$(
        $(#[$doc:meta])* $how:ident $class:ident $op:ident $text:literal
        $method:ident($x:ident $(, $y:ident $(: $of:ident)?)*) -> $out:ident, $precision:ident {$($meaning:tt)+}
    )+})+) => {$($(
        only! { $wanted $class
            $(#[$doc])*
            fn $method(self $(, $y: operand_type!($($of)?))*) -> $out;
        }
    )+)+};
}

/// The methods of a class of numbers, for a type of this kind.
macro_rules! implement {
    ($wanted:ident $row:ident $($arity:ident {$(
        $(#[$doc:meta])* $how:ident $class:ident $op:ident $text:literal
        $method:ident($x:ident $(, $y:ident $(: $of:ident)?)*) -> $out:ident, $precision:ident {$($meaning:tt)+}
    )+})+) => {$($(
        only! { $wanted $class
            #[inline(always)]
            fn $method(self $(, $y: operand_type!($($of)?))*) -> $out {
                let $x = widened!($row self);
                $(let $y = widened!($row $y $(, $of)?);)*
                narrowed!($row $out meaning!($row {$($meaning)+,}))
            }
        }
    )+)+};
}

/// The methods of a class of numbers that can fail, without their bodies.
macro_rules! declare_faulting {
    ($wanted:ident $($(#[$doc:meta])* $class:ident $fault:ident
        $method:ident($x:ident $(, $y:ident $(: $of:ident)?)*) {$($meaning:tt)+})+) => {$(
        only! { $wanted $class
            $(#[$doc])*
            ///
            /// `None` stands for the fault.
            fn $method(self $(, $y: operand_type!($($of)?))*) -> Option<Self>;
        }
    )+};
}

/// The methods of a class of numbers that can fail, for a type of this kind.
macro_rules! implement_faulting {
    ($wanted:ident $row:ident $($(#[$doc:meta])* $class:ident $fault:ident
        $method:ident($x:ident $(, $y:ident $(: $of:ident)?)*) {$($meaning:tt)+})+) => {$(
        only! { $wanted $class
            #[inline(always)]
            fn $method(self $(, $y: operand_type!($($of)?))*) -> Option<Self> {
                let $x = widened!($row self);
                $(let $y = widened!($row $y $(, $of)?);)*
                meaning!($row {$($meaning)+,}).map(|value| narrowed!($row Self value))
            }
        }
    )+};
}
