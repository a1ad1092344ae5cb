/// Redirects of the real curl 8.14.1 from a URL to a Location: the URL that it requested next with `-L`, or its message
/// after `!`, and `%{redirect_url}` without `-L`. The ports of the two listeners are 1 and 2.
enum CurlRedirectCases {
    static let all: [(String, String, String, String)] = [
        ("http://127.0.0.1:1/a/b?q#frag", "rel", "http://127.0.0.1:1/a/rel", "http://127.0.0.1:1/a/rel"),
        ("http://127.0.0.1:1/a/b?q#frag", "../up/./x", "http://127.0.0.1:1/up/x", "http://127.0.0.1:1/up/x"),
        ("http://127.0.0.1:1/a/b?q#frag", "?only", "http://127.0.0.1:1/a/b?only", "http://127.0.0.1:1/a/b?only"),
        ("http://127.0.0.1:1/a/b?q#frag", "#f", "http://127.0.0.1:1/a/b?q#f", "http://127.0.0.1:1/a/b?q#f"),
        ("http://127.0.0.1:1/a/b?q#frag", "//127.0.0.1:2/p", "http://127.0.0.1:2/p", "http://127.0.0.1:2/p"),
        ("http://127.0.0.1:1/a/b?q#frag", " /lead \t", "http://127.0.0.1:1/lead", "http://127.0.0.1:1/lead"),
        (
            "http://127.0.0.1:1/a/b?q#frag", "/sp ace?a b#c d", "http://127.0.0.1:1/sp%20ace?a+b#c+d",
            "http://127.0.0.1:1/sp%20ace?a+b#c+d"
        ),
        (
            "http://127.0.0.1:1/a/b?q#frag", "/é?é#é", "http://127.0.0.1:1/%c3%a9?%c3%a9#%c3%a9",
            "http://127.0.0.1:1/%c3%a9?%c3%a9#%c3%a9"
        ),
        (
            "http://127.0.0.1:1/a/b?q#frag", "http://h.invalid/a b?c d#e f", "http://h.invalid/a%20b?c+d#e%20f",
            "http://h.invalid/a b?c d#e f"
        ),
        ("http://127.0.0.1:1/a/b?q#frag", "http:/127.0.0.1:1/one", "http://127.0.0.1:1/one", "http://127.0.0.1:1/one"),
        (
            "http://127.0.0.1:1/a/b?q#frag", "http:///127.0.0.1:1/two", "http://127.0.0.1:1/two",
            "http://127.0.0.1:1/two"
        ),
        (
            "http://127.0.0.1:1/a/b?q#frag", "http://bad host/",
            "! The redirect target URL could not be parsed: Bad hostname", "http://bad host/"
        ),
        (
            "http://127.0.0.1:1/a/b?q#frag", "http://127.0.0.1:99999/",
            "! The redirect target URL could not be parsed: Port number was not a decimal number between 0 and 65535",
            "http://127.0.0.1:99999/"
        ),
        ("http://127.0.0.1:1/a/b?q#frag", "HTTP://127.0.0.1:1/Up", "http://127.0.0.1:1/Up", "http://127.0.0.1:1/Up"),
        ("http://127.0.0.1:1/a/b?q#frag", "/a%20b", "http://127.0.0.1:1/a%20b", "http://127.0.0.1:1/a%20b"),
        ("http://127.0.0.1:1/a/b?q#frag", "/..//x", "http://127.0.0.1:1//x", "http://127.0.0.1:1//x"),
        (
            "http://127.0.0.1:1/a/b?q#frag", "x?y=/../z", "http://127.0.0.1:1/a/x?y=/../z",
            "http://127.0.0.1:1/a/x?y=/../z"
        ),
        (
            "http://127.0.0.1:1/a/b?q#frag", "mailto:x@y",
            "! The redirect target URL could not be parsed: Unsupported URL scheme", "mailto:x@y"
        ),
        (
            "http://127.0.0.1:1/a/b?q#frag", "http:x",
            "! The redirect target URL could not be parsed: Unsupported number of slashes following scheme", "http:x"
        ),
        ("http://127.0.0.1:1/a/b?q#frag", "/tab\tx", "http://127.0.0.1:1/tab%09x", "http://127.0.0.1:1/tab%09x"),
        (
            "http://127.0.0.1:1/a/b?q#frag", "/p?http://u/", "http://127.0.0.1:1/p?http://u/",
            "http://127.0.0.1:1/p?http://u/"
        ),
        ("http://127.0.0.1:1/a/b?q#frag", "/%2e%2e/x", "http://127.0.0.1:1/x", "http://127.0.0.1:1/x"),
        (
            "http://127.0.0.1:1/a/b?q#frag", "http://[::1/",
            "! The redirect target URL could not be parsed: Bad IPv6 address", "http://[::1/"
        ),
        ("http://127.0.0.1:1/a/b?q#frag", "/a\\b", "http://127.0.0.1:1/a\\b", "http://127.0.0.1:1/a\\b"),
        ("http://127.0.0.1:1/a/b?q#frag", ".", "http://127.0.0.1:1/a/", "http://127.0.0.1:1/a/"),
        ("http://127.0.0.1:1/a/b?q#frag", "..", "http://127.0.0.1:1/", "http://127.0.0.1:1/"),
        ("http://127.0.0.1:1/a/b?q#frag", "./", "http://127.0.0.1:1/a/", "http://127.0.0.1:1/a/"),
        ("http://127.0.0.1:1/a/b?q#frag", "?", "http://127.0.0.1:1/a/b", "http://127.0.0.1:1/a/b"),
        ("http://127.0.0.1:1/a/b?q#frag", "#", "http://127.0.0.1:1/a/b?q", "http://127.0.0.1:1/a/b?q"),
        ("http://127.0.0.1:1/a/b?q#frag", "x#", "http://127.0.0.1:1/a/x", "http://127.0.0.1:1/a/x"),
        ("http://127.0.0.1:1/a/b?q#frag", "x?", "http://127.0.0.1:1/a/x", "http://127.0.0.1:1/a/x"),
        ("http://127.0.0.1:1/a/b?q#frag", "/", "http://127.0.0.1:1/", "http://127.0.0.1:1/"),
        ("http://127.0.0.1:1/a/b?q#frag", "//127.0.0.1:1", "http://127.0.0.1:1/", "http://127.0.0.1:1/"),
        (
            "http://127.0.0.1:1/a/b?q#frag", "x:y",
            "! The redirect target URL could not be parsed: Unsupported URL scheme", "x:y"
        ),
        ("http://127.0.0.1:1/a/b?q#frag", "a/b:c", "http://127.0.0.1:1/a/a/b:c", "http://127.0.0.1:1/a/a/b:c"),
        (
            "http://127.0.0.1:1/a/b?q#frag", "gopher://h/x", "! Protocol \"gopher\" disabled (in redirect)",
            "gopher://h/x"
        ),
        (
            "http://127.0.0.1:1/a/b?q#frag", "foo://h/x",
            "! The redirect target URL could not be parsed: Unsupported URL scheme", "foo://h/x"
        ),
        ("http://127.0.0.1:1/a/b?q#frag", "ftp://h/x", "! Protocol \"ftp\" not supported (in redirect)", "ftp://h/x"),
        ("http://127.0.0.1:1/a/b?q#frag", "x y", "http://127.0.0.1:1/a/x%20y", "http://127.0.0.1:1/a/x%20y"),
        (
            "http://127.0.0.1:1/a/b?q#frag", "//127.0.0.1:1/a b?c d", "http://127.0.0.1:1/a%20b?c+d",
            "http://127.0.0.1:1/a%20b?c+d"
        ),
        ("http://127.0.0.1:1/a/b?q#frag", "?a b", "http://127.0.0.1:1/a/b?a+b", "http://127.0.0.1:1/a/b?a+b"),
        ("http://127.0.0.1:1/a/b?q#frag", "http://127.0.0.1:1?x", "http://127.0.0.1:1/?x", "http://127.0.0.1:1/?x"),
        (
            "http://127.0.0.1:1/a/b?q#frag", "http://us:pw@127.0.0.1:1/n", "http://us:pw@127.0.0.1:1/n",
            "http://us:pw@127.0.0.1:1/n"
        ),
        ("http://127.0.0.1:1/a/b?q#frag", "/\u{7F}", "http://127.0.0.1:1/%7f", "http://127.0.0.1:1/%7f"),
        ("http://127.0.0.1:1/", "rel", "http://127.0.0.1:1/rel", "http://127.0.0.1:1/rel"),
        ("http://127.0.0.1:1/", "../up/./x", "http://127.0.0.1:1/up/x", "http://127.0.0.1:1/up/x"),
        ("http://127.0.0.1:1/", "?only", "http://127.0.0.1:1/?only", "http://127.0.0.1:1/?only"),
        ("http://127.0.0.1:1/", "#f", "http://127.0.0.1:1/#f", "http://127.0.0.1:1/#f"),
        ("http://127.0.0.1:1/", "//127.0.0.1:2/p", "http://127.0.0.1:2/p", "http://127.0.0.1:2/p"),
        ("http://127.0.0.1:1/", "x y", "http://127.0.0.1:1/x%20y", "http://127.0.0.1:1/x%20y"),
        ("http://127.0.0.1:1/a/b/#f", "rel", "http://127.0.0.1:1/a/b/rel", "http://127.0.0.1:1/a/b/rel"),
        ("http://127.0.0.1:1/a/b/#f", "../up/./x", "http://127.0.0.1:1/a/up/x", "http://127.0.0.1:1/a/up/x"),
        ("http://127.0.0.1:1/a/b/#f", "?only", "http://127.0.0.1:1/a/b/?only", "http://127.0.0.1:1/a/b/?only"),
        ("http://127.0.0.1:1/a/b/#f", "#f", "http://127.0.0.1:1/a/b/#f", "http://127.0.0.1:1/a/b/#f"),
        ("http://127.0.0.1:1/a/b/#f", "//127.0.0.1:2/p", "http://127.0.0.1:2/p", "http://127.0.0.1:2/p"),
        ("http://127.0.0.1:1/a/b/#f", "x y", "http://127.0.0.1:1/a/b/x%20y", "http://127.0.0.1:1/a/b/x%20y"),
        ("http://127.0.0.1:1/a/?", "rel", "http://127.0.0.1:1/a/rel", "http://127.0.0.1:1/a/rel"),
        ("http://127.0.0.1:1/a/?", "../up/./x", "http://127.0.0.1:1/up/x", "http://127.0.0.1:1/up/x"),
        ("http://127.0.0.1:1/a/?", "?only", "http://127.0.0.1:1/a/?only", "http://127.0.0.1:1/a/?only"),
        ("http://127.0.0.1:1/a/?", "#f", "http://127.0.0.1:1/a/#f", "http://127.0.0.1:1/a/#f"),
        ("http://127.0.0.1:1/a/?", "//127.0.0.1:2/p", "http://127.0.0.1:2/p", "http://127.0.0.1:2/p"),
        ("http://127.0.0.1:1/a/?", "x y", "http://127.0.0.1:1/a/x%20y", "http://127.0.0.1:1/a/x%20y"),
        ("http://127.0.0.1:1/x/../y", "rel", "http://127.0.0.1:1/rel", "http://127.0.0.1:1/rel"),
        ("http://127.0.0.1:1/x/../y", "../up/./x", "http://127.0.0.1:1/up/x", "http://127.0.0.1:1/up/x"),
        ("http://127.0.0.1:1/x/../y", "?only", "http://127.0.0.1:1/y?only", "http://127.0.0.1:1/y?only"),
        ("http://127.0.0.1:1/x/../y", "#f", "http://127.0.0.1:1/y#f", "http://127.0.0.1:1/y#f"),
        ("http://127.0.0.1:1/x/../y", "//127.0.0.1:2/p", "http://127.0.0.1:2/p", "http://127.0.0.1:2/p"),
        ("http://127.0.0.1:1/x/../y", "x y", "http://127.0.0.1:1/x%20y", "http://127.0.0.1:1/x%20y"),
    ]
}
