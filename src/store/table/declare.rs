//! The macro [`table!`]: one declaration of a table, and all that follows from it. `table/mod.rs` explains how to read one.

/// Declares a table and the row that is read from it. Gives the struct with `held`, `values`, the static `TABLE`, a macro
/// that lists the columns, and for tables that a fork copies the struct of what it is given and `forked`.
macro_rules! table {
    (
        $(#[$doc:meta])*
        $vis:vis struct $row:ident in $name:ident by ($($key:ident),+), listed by $columns:ident, $forks:tt;
        $(since $since:literal {
            $(
                $(#[$about:meta])*
                $field:ident $(($($column:ident)+))?: $type:ty, $written:ident $(, $fork:ident)?;
            )+
        })+
        $(beside {
            $($beside:ident: $kind:ident, $vouched:ident $(, $beside_fork:ident)?;)+
        })?
        $(noted {
            $($(#[$noted_about:meta])* $noted:ident: $noted_type:ty;)+
        })?
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        $vis struct $row {
            $($($(#[$about])* pub $field: $type,)+)+
            $($($(#[$noted_about])* pub $noted: $noted_type,)+)?
        }

        /// The columns that the seal covers, in its order, and the seal.
        #[allow(unused_macros)]
        macro_rules! $columns {
            () => {
                concat!($($($crate::store::table::listed!($field $($($column)+)?), ", ",)+)+ $crate::store::table::seal_name!($forks))
            };
        }

        const GROUPS: &[$crate::store::table::Group] = &[
            $($($crate::store::table::Group {
                names: $crate::store::table::names!($field $($($column)+)?),
                kinds: <$type as $crate::store::table::Field>::KINDS,
                since: $since,
                written: $crate::store::table::written!($written),
                fork: $crate::store::table::in_fork!($($fork)?),
            },)+)+
        ];
        const COLUMNS: [$crate::store::table::Column; $crate::store::table::width(GROUPS)] =
            $crate::store::table::flat(GROUPS);

        pub static TABLE: $crate::store::table::Table = $crate::store::table::Table {
            name: stringify!($name),
            key: &[$(stringify!($key)),+],
            seal: $crate::store::table::seal_name!($forks),
            columns: &COLUMNS,
            beside: &[$($($crate::store::table::Beside {
                name: stringify!($beside),
                kind: $crate::store::table::Kind::$kind,
                vouched: $crate::store::table::vouched!($vouched),
                fork: $crate::store::table::in_fork!($($beside_fork)?),
            },)+)?],
            texts: $crate::store::table::Texts::new(),
        };

        #[allow(dead_code)]
        impl $row {
            /// Reads a row as it was selected: columns, then the seal. Answers it and whether the seal fits.
            fn held(
                row: &mut $crate::store::engine::Row,
            ) -> Result<(Self, bool), $crate::store::Error> {
                row.begin_seal(&TABLE);
                let read = Self::fields(row)?;
                Ok((read, row.end_seal()?))
            }

            fn fields(row: &mut $crate::store::engine::Row) -> Result<Self, $crate::store::Error> {
                Ok(Self {
                    $($($field: $crate::store::table::Field::read(row)?,)+)+
                    $($($noted: Default::default(),)+)?
                })
            }

            /// What the seal covers, in the order of its columns.
            pub fn values(&self) -> Vec<$crate::store::engine::Param> {
                let mut values = Vec::with_capacity(COLUMNS.len() + 1);
                $($($crate::store::table::Field::write(&self.$field, &mut values);)+)+
                values
            }
        }

        impl $crate::store::table::Declared for $row {
            fn table() -> &'static $crate::store::table::Table {
                &TABLE
            }

            fn read_fields(
                row: &mut $crate::store::engine::Row,
            ) -> Result<Self, $crate::store::Error> {
                Self::fields(row)
            }

            fn column_values(&self) -> Vec<$crate::store::engine::Param> {
                self.values()
            }
        }

        $crate::store::table::forks! {
            $forks $row {$($({$field: $type; $($fork)?})+)+} {$($($noted)+)?}
        }
    };
}

/// The columns of one field: its own name, unless others are given.
macro_rules! names {
    ($field:ident) => { &[stringify!($field)] };
    ($field:ident $($column:ident)+) => { &[$(stringify!($column)),+] };
}

macro_rules! listed {
    ($field:ident) => { stringify!($field) };
    ($field:ident $first:ident $($column:ident)*) => {
        concat!(stringify!($first) $(, ", ", stringify!($column))*)
    };
}

/// The column behind all others: the seal, or a link of a chain that covers them.
macro_rules! seal_name {
    (chained) => {
        "hash"
    };
    ($sealed:tt) => {
        "seal"
    };
}

macro_rules! written {
    (once) => {
        $crate::store::table::Written::Once
    };
    (changes) => {
        $crate::store::table::Written::Changes
    };
    (later) => {
        $crate::store::table::Written::Later
    };
}

macro_rules! vouched {
    (sealed) => {
        $crate::store::table::Vouched::Sealed
    };
    (checked) => {
        $crate::store::table::Vouched::Checked
    };
}

macro_rules! in_fork {
    () => {
        $crate::store::table::InFork::Stays
    };
    (copied) => {
        $crate::store::table::InFork::Copied
    };
    (given) => {
        $crate::store::table::InFork::Given
    };
    (fresh) => {
        $crate::store::table::InFork::Fresh
    };
}

/// What a fork makes of a row: a struct of what is given, `forked`, and for `blank` also a row with nothing but that.
macro_rules! forks {
    (stays $row:ident $fields:tt $noted:tt) => {};
    (chained $row:ident $fields:tt $noted:tt) => {};
    // Every line must still say how a fork gets its column: the statements are made from that.
    ((copied by statements) $row:ident {$({$field:ident: $type:ty; $fork:ident})+} {$($noted:ident)*}) => {};
    ((forked by $given:ident) $row:ident {$({$field:ident: $type:ty; $fork:ident})+} {$($noted:ident)*}) => {
        $crate::store::table::given! { $given {} $({$field: $type; $fork})+ }

        impl $row {
            /// The row that a fork gets in place of this one.
            pub fn forked(&self, given: $given) -> Self {
                Self {
                    $($field: $crate::store::table::forked!($fork, self.$field, given.$field),)+
                    $($noted: Default::default(),)*
                }
            }
        }
    };
    ((made from $given:ident) $row:ident {$({$field:ident: $type:ty; $fork:ident})+} {$($noted:ident)*}) => {
        $crate::store::table::forks! {
            (forked by $given) $row {$({$field: $type; $fork})+} {$($noted)*}
        }

        impl $row {
            /// A row of which no more is known than what each must be given.
            pub fn blank(given: $given) -> Self {
                Self {
                    $($field: $crate::store::table::blank!($fork, given.$field),)+
                    $($noted: Default::default(),)*
                }
            }
        }
    };
}

/// The struct of the fields that are `given`, found one by one.
macro_rules! given {
    ($given:ident {$($found:tt)*}) => {
        /// What whoever makes a row must say.
        pub struct $given { $($found)* }
    };
    ($given:ident {$($found:tt)*} {$field:ident: $type:ty; given} $($rest:tt)*) => {
        $crate::store::table::given! { $given {$($found)* pub $field: $type,} $($rest)* }
    };
    ($given:ident {$($found:tt)*} {$field:ident: $type:ty; $fork:ident} $($rest:tt)*) => {
        $crate::store::table::given! { $given {$($found)*} $($rest)* }
    };
}

macro_rules! forked {
    (copied, $origin:expr, $given:expr) => {
        $origin.clone()
    };
    (given, $origin:expr, $given:expr) => {
        $given
    };
    (fresh, $origin:expr, $given:expr) => {
        Default::default()
    };
}

macro_rules! blank {
    (given, $given:expr) => {
        $given
    };
    ($other:ident, $given:expr) => {
        Default::default()
    };
}

pub(in crate::store) use {
    blank, forked, forks, given, in_fork, listed, names, seal_name, table, vouched, written,
};
