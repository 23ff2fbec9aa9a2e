//! Every statement of the lists walks an index, on both engines: nothing scans or sorts all runs.

use super::{
    super::{
        Store,
        engine::{Connection, Param, params},
        tags,
    },
    COUNT_AGENT, COUNT_AT_GATE, COUNT_IN_NEED, COUNT_STATUS, NEXT_AGENT, found, index_range, needs,
    search, source,
};
use crate::domain::Hash;

const BIG: i64 = i64::MAX;

/// The statements with parameters, and whether a bounded number of rows may be sorted at the end.
fn statements() -> Vec<(&'static str, Vec<Param>, bool)> {
    let places = || {
        (0..index_range::PLACES as i64)
            .map(Param::from)
            .collect::<Vec<_>>()
    };
    vec![
        (source::ALL, params![BIG, 50], false),
        (source::BY_STATUS, params![BIG, 50, "done"], false),
        (source::BY_AGENT, params![BIG, 50, "a"], false),
        (
            source::BY_AGENT_AND_STATUS,
            params![BIG, 50, "a", "done"],
            false,
        ),
        (source::WAITING, params![BIG, 50], true),
        (source::WAITING_BY_AGENT, params![BIG, 50, "a"], true),
        (source::BY_CAUSE, params![BIG, 50, "c"], false),
        (source::BY_COST, params![BIG, 50], false),
        (source::BY_LABEL, params![BIG, 50, "k", "v"], true),
        (index_range::OF_TERM, params![BIG, "t"], false),
        (index_range::OF_KEY, params![BIG, "k"], false),
        (index_range::OF_AUTHOR, params![BIG, "ana"], false),
        (index_range::OF_OWNER, params![BIG, "ana"], false),
        (index_range::OF_RUN, params![BIG, "r"], true),
        (index_range::BY_PLACE, places(), true),
        (search::FIRST_TERM, params!["t", "u"], false),
        (search::NEXT_TERM, params!["t", "u"], false),
        (search::HAS_TERM, params![1, "t", "u"], false),
        (search::HAS_KEY, params![1, "k"], false),
        (found::RUN, params!["r"], false),
        (found::STEPS, params!["k"], false),
        (needs::NEXT_CAUSE, params![""], false),
        (needs::SIZE, params!["c", 1_000], false),
        (needs::ONE, params!["c"], false),
        (needs::IN_NEED, params![0, 0, 200], false),
        (needs::NEWEST_IN_NEED, params![0, 200], false),
        (COUNT_STATUS, params!["done", 1_000], false),
        (COUNT_AT_GATE, params![1_000], false),
        (COUNT_IN_NEED, params![1_000], false),
        (COUNT_AGENT, params!["a", 1_000], false),
        (NEXT_AGENT, params![""], false),
        (tags::OF_RUN, params!["r", BIG, 50], false),
        (tags::NAMED, params!["r", Hash::default()], false),
        (tags::ALL, params![BIG, "r", 50], false),
        (tags::OF_SNAPSHOT, params!["r", 0, 50], false),
    ]
}

/// The plan's lines. Statements are few: a test may keep them.
async fn plan(
    conn: &mut dyn Connection,
    explain: &str,
    sql: &str,
    params: Vec<Param>,
) -> Vec<String> {
    let sql: &'static str = Box::leak(format!("{explain} {sql}").into_boxed_str());
    let rows = conn.fetch(sql, params).await.expect("a plan");
    rows.into_iter()
        .map(|mut row| {
            if explain == "EXPLAIN QUERY PLAN" {
                for _ in 0..3 {
                    row.opt_int().expect("a number");
                }
            }
            row.text().expect("a line of the plan")
        })
        .collect()
}

#[tokio::test]
async fn no_list_scans_or_sorts_everything_on_sqlite() {
    let dir = tempfile::tempdir().expect("a folder");
    let url = format!("sqlite:{}", dir.path().join("plans.db").display());
    let store = Store::open(&url).await.expect("a store");
    let mut conn = store.engine.read().await.expect("a connection");
    for (sql, params, may_sort) in statements() {
        let plan = plan(&mut *conn, "EXPLAIN QUERY PLAN", sql, params).await;
        // These are subqueries with a limit of their own.
        let bounded = ["SCAN c", "SCAN counted", "SCAN free", "SCAN leased"];
        let scans = plan
            .iter()
            .any(|line| line.starts_with("SCAN ") && !bounded.contains(&line.as_str()));
        let sorts = plan.iter().any(|line| line.contains("TEMP B-TREE"));
        assert!(!scans && (may_sort || !sorts), "{sql}\n{plan:#?}");
    }
}

#[tokio::test]
async fn no_list_scans_or_sorts_everything_on_postgres() {
    use sqlx::{AssertSqlSafe, Connection as _, Executor as _};
    let Ok(admin) = std::env::var("STEP47_TEST_POSTGRES") else {
        return; // `cargo xtask test` starts one
    };
    let name = format!("step47_plans_{}", uuid::Uuid::now_v7().simple());
    let mut database = sqlx::PgConnection::connect(&admin)
        .await
        .expect("PostgreSQL");
    let create = AssertSqlSafe(format!("CREATE DATABASE {name}"));
    database.execute(create).await.expect("a database");
    let (server, _) = admin.rsplit_once('/').expect("a URL with a database");
    let store = Store::open(&format!("{server}/{name}"))
        .await
        .expect("a store");
    let mut conn = store.engine.read().await.expect("a connection");
    // Tables are empty here, and a planner would read an empty table whole.
    for set in ["SET enable_seqscan = off", "SET enable_bitmapscan = off"] {
        conn.execute(set, params![]).await.expect("a setting");
    }
    for (sql, params, may_sort) in statements() {
        let plan = plan(&mut *conn, "EXPLAIN", sql, params).await;
        let scans = plan.iter().any(|line| line.contains("Seq Scan"));
        let sorts = plan.iter().any(|line| line.contains("Sort"));
        assert!(!scans && (may_sort || !sorts), "{sql}\n{plan:#?}");
        // An index that is read from end to end is a scan as well, unless its order ends it, or it holds nothing else and a
        // limit ends it.
        let whole = plan
            .iter()
            .any(|line| line.contains("Index") && line.contains("Scan"))
            && !plan.iter().any(|line| line.contains("Index Cond"));
        let ordered = [source::BY_COST, COUNT_IN_NEED].contains(&sql);
        assert!(!whole || ordered, "{sql}\n{plan:#?}");
    }
    drop(conn);
    store.close().await;
    let drop = AssertSqlSafe(format!("DROP DATABASE {name} WITH (FORCE)"));
    database
        .execute(drop)
        .await
        .expect("the database is dropped");
}
