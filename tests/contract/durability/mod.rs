//! What must survive: killed servers, stopped workers, lost connections, two servers at once.

mod audit;
mod beside_damage;
mod copies;
mod corruption;
mod deploys;
mod event_readers;
mod failing_disk;
mod flips;
mod full_disk;
mod grace;
mod killed_server;
pub mod load;
mod lost_connections;
mod lost_file;
mod older_stores;
mod reaper;
mod restarts;
mod stopped_worker;
mod two_servers;
mod verifying;
mod whole;

pub use flips::behind;
