//! The title of a page. All pages set it by this component: the server writes titles into the document after the page has
//! been rendered, when the reactive values of this request may be out of reach, so a title is plain text by then.

use leptos::{prelude::*, text_prop::TextProp};
use leptos_meta::Title;

use super::badge::Badge;

/// The title of pages that set none, and the number of runs in need before every title.
#[component]
pub fn AnyTitle(badge: Badge) -> impl IntoView {
    view! { <Title text="Step47" formatter=move |title: String| badge.titled(title)/> }
}

/// The title of this page; in the browser it follows what it reads.
#[component]
pub fn PageTitle(#[prop(into)] text: TextProp) -> impl IntoView {
    if cfg!(feature = "ssr") {
        let text = untrack(|| escaped(&text.get()));
        return view! { <Title text/> };
    }
    view! { <Title text/> }
}

/// As text inside the element: leptos_meta writes a title into the document as it is given.
fn escaped(title: &str) -> String {
    title.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    #[test]
    fn a_title_ends_no_element() {
        assert_eq!(
            super::escaped("</title><b>&"),
            "&lt;/title>&lt;b>&amp;",
            "what an agent calls its run stays text"
        );
    }

    /// A reactive title would be read while another request is at work, and fail or show that request's run.
    #[test]
    fn no_page_sets_its_title_by_another_way() {
        let mut found = Vec::new();
        look(Path::new("src"), &mut found);
        assert_eq!(found, ["src/components/page_title.rs"]);
    }

    fn look(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                look(&path, found);
            } else if fs::read_to_string(&path).unwrap().contains("<Title") {
                found.push(path.display().to_string());
            }
        }
    }
}
