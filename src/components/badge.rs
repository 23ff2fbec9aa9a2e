//! How many runs need a person, where a tab shows it without being looked at: in its title and its icon.

use leptos::prelude::*;

use super::browser::OrSay as _;

const ICON: &str = "/favicon.svg";

/// An `Arc` signal, not one in the arena of a request: the server reads it for the title after the page has been rendered.
#[derive(Clone)]
pub struct Badge(ArcRwSignal<i64>);

impl Badge {
    pub fn provide() -> Self {
        let badge = Self(ArcRwSignal::new(0));
        provide_context(badge.clone());
        let needs = badge.0.clone();
        Effect::new(move || {
            let icon = document()
                .query_selector("link[rel=icon]")
                .or_say("look for the icon")
                .flatten();
            if let Some(icon) = icon {
                icon.set_attribute("href", &favicon(needs.get()))
                    .or_say("change the icon");
            }
        });
        badge
    }

    /// Shows this number, if it is known, and answers it.
    pub fn shown(&self, needs: Option<i64>) -> Option<i64> {
        if let Some(n) = needs
            && self.0.get_untracked() != n
        {
            self.0.set(n);
        }
        needs
    }

    /// A page's title behind the number.
    pub fn titled(&self, title: String) -> String {
        match self.0.get() {
            0 => title,
            n if title.starts_with(&format!("({n}) ")) => title,
            n => format!("({n}) {title}"),
        }
    }
}

/// The icon, with the number in its corner if there is one.
fn favicon(needs: i64) -> String {
    if needs == 0 {
        return ICON.to_owned();
    }
    let text = if needs > 9 {
        "9+".to_owned()
    } else {
        needs.to_string()
    };
    format!(
        "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E\
         %3Crect width='32' height='32' rx='7' fill='%230d1014'/%3E\
         %3Cpath d='M13.6 5.8 7 15.4h4.2l-.9 6.8 6.7-9.8h-4.3z' fill='%23ff6b4a'/%3E\
         %3Ccircle cx='21' cy='21' r='10.5' fill='%23ff6b4a'/%3E\
         %3Ctext x='21' y='26' font-family='sans-serif' font-size='14' font-weight='700' \
         text-anchor='middle' fill='%230d1014'%3E{text}%3C/text%3E%3C/svg%3E"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_icon_counts_to_nine() {
        assert_eq!(favicon(0), "/favicon.svg");
        assert!(favicon(3).contains(">3%3C") || favicon(3).contains("%3E3%3C"));
        assert!(favicon(40).contains("%3E9+%3C"));
        assert!(!favicon(40).contains('#'), "a # would cut the address off");
    }
}
