//! What every server function asks of its caller, as it declares it itself.

use server_fn::{ServerFn, axum::server_fn_paths, inventory};
use std::collections::BTreeMap;

use crate::domain::nouns::access::Door;

/// A server function that says what it asks of its caller.
pub trait Declared: ServerFn {
    const DOOR: Door;
}

/// One declaration, gathered by the linker from wherever `door!` stands.
pub struct FunctionDoor {
    path: &'static str,
    door: Door,
}

inventory::collect!(FunctionDoor);

impl FunctionDoor {
    pub const fn of<F: Declared>() -> Self {
        Self {
            path: F::PATH,
            door: F::DOOR,
        }
    }
}

/// Every server function that is registered, with its door. One without a declaration is an error that names it, and so
/// is a declaration without its function.
pub fn functions() -> Result<Vec<(http::Method, String, Door)>, String> {
    let mut declared: BTreeMap<&str, Door> = BTreeMap::new();
    for FunctionDoor { path, door } in inventory::iter::<FunctionDoor> {
        if declared.insert(path, *door).is_some() {
            return Err(format!(
                "the server function {path} declares its access twice"
            ));
        }
    }
    let mut functions = Vec::new();
    for (path, method) in server_fn_paths() {
        let door = declared.remove(path).ok_or_else(|| {
            format!("the server function {path} does not declare who may call it: add door!(…)")
        })?;
        functions.push((method, path.to_owned(), door));
    }
    match declared.keys().next() {
        None => Ok(functions),
        Some(path) => Err(format!("{path} declares its access and is not registered")),
    }
}
