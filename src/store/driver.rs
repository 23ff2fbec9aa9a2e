//! What both drivers of sqlx need and neither shares by type: binding parameters and reading rows.

macro_rules! driver {
    ($db:ty, $row:ty, $clock:path, $int:pat, $real:pat, $text:pat, $bytes:pat) => {
        fn bind<'q>(
            sql: std::borrow::Cow<'static, str>,
            params: Vec<$crate::store::engine::Param>,
        ) -> sqlx::query::Query<'q, $db, <$db as sqlx::Database>::Arguments> {
            use $crate::store::engine::Param;
            params
                .into_iter()
                .fold(
                    sqlx::query(sqlx::AssertSqlSafe(sql)),
                    |query, param| match param {
                        Param::Int(v) => query.bind(v),
                        Param::Real(v) => query.bind(v),
                        Param::Text(v) => query.bind(v),
                        Param::Bytes(v) => query.bind(v),
                    },
                )
        }

        fn read(row: &$row) -> Result<$crate::store::engine::Row, $crate::store::error::Error> {
            use sqlx::{Row as _, TypeInfo as _, ValueRef as _};
            use $crate::store::engine::{Param, Row};
            let mut values = Vec::with_capacity(row.len());
            for i in 0..row.len() {
                let raw = row.try_get_raw(i)?;
                let value = match raw.is_null() {
                    true => Param::Text(None),
                    false => match raw.type_info().name() {
                        $int => Param::Int(Some(row.try_get_unchecked(i)?)),
                        $real => Param::Real(Some(row.try_get_unchecked(i)?)),
                        // Text that is not UTF-8 is damaged: read as bytes, it does not fit its seal.
                        $text => match row.try_get_unchecked(i) {
                            Ok(text) => Param::Text(Some(text)),
                            Err(_) => Param::Bytes(Some(row.try_get_unchecked(i)?)),
                        },
                        $bytes => Param::Bytes(Some(row.try_get_unchecked(i)?)),
                        other => {
                            return Err($crate::store::error::Error::damaged(format!(
                                "a column of type {other}"
                            )));
                        }
                    },
                };
                values.push(value);
            }
            Ok(Row::new(values))
        }

        #[async_trait::async_trait]
        impl $crate::store::engine::Connection for sqlx::pool::PoolConnection<$db> {
            async fn execute_built(
                &mut self,
                sql: std::borrow::Cow<'static, str>,
                params: Vec<$crate::store::engine::Param>,
            ) -> Result<u64, $crate::store::error::Error> {
                Ok(bind(sql, params)
                    .execute(&mut **self)
                    .await?
                    .rows_affected())
            }

            async fn now(&mut self) -> Result<$crate::domain::Time, $crate::store::error::Error> {
                $clock(self).await
            }

            async fn fetch_built(
                &mut self,
                sql: std::borrow::Cow<'static, str>,
                params: Vec<$crate::store::engine::Param>,
            ) -> Result<Vec<$crate::store::engine::Row>, $crate::store::error::Error> {
                bind(sql, params)
                    .fetch_all(&mut **self)
                    .await?
                    .iter()
                    .map(read)
                    .collect()
            }
        }

        #[async_trait::async_trait]
        impl $crate::store::engine::Connection for Open {
            async fn execute_built(
                &mut self,
                sql: std::borrow::Cow<'static, str>,
                params: Vec<$crate::store::engine::Param>,
            ) -> Result<u64, $crate::store::error::Error> {
                Ok(bind(sql, params)
                    .execute(&mut *self.tx)
                    .await?
                    .rows_affected())
            }

            async fn now(&mut self) -> Result<$crate::domain::Time, $crate::store::error::Error> {
                $clock(self).await
            }

            async fn fetch_built(
                &mut self,
                sql: std::borrow::Cow<'static, str>,
                params: Vec<$crate::store::engine::Param>,
            ) -> Result<Vec<$crate::store::engine::Row>, $crate::store::error::Error> {
                bind(sql, params)
                    .fetch_all(&mut *self.tx)
                    .await?
                    .iter()
                    .map(read)
                    .collect()
            }
        }
    };
}
pub(super) use driver;
