internal import CarpoolJSON
internal import CarpoolSession

/// Writes cookies.
enum CookieWriter {
    /// Writes a cookie with its value.
    static func write(_ cookie: Cookie, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", cookie.name)
        writer.member("value", cookie.value)
        writeRest(cookie, to: &writer)
        writer.endObject()
    }

    /// Writes a cookie without its value.
    static func writeListed(_ cookie: Cookie, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("name", cookie.name)
        writeRest(cookie, to: &writer)
        writer.member("size_bytes", cookie.name.utf8.count + cookie.value.utf8.count)
        writer.endObject()
    }

    private static func writeRest(_ cookie: Cookie, to writer: inout JSONWriter) {
        writer.member("domain", cookie.domain)
        writer.member("host_only", cookie.isHostOnly)
        writer.member("path", cookie.path)
        writer.key("expires")
        if let expires = cookie.expires { writer.integer(Int(expires)) } else { writer.null() }
        writer.member("secure", cookie.isSecure)
        writer.member("http_only", cookie.isHTTPOnly)
        if let sameSite = cookie.sameSite { writer.member("same_site", sameSite.rawValue) }
    }

    /// Writes the jar of a request as far as it fits: the members of an object.
    static func writeMembers(
        _ cookies: [Cookie], as form: RequestCookies.Export, atMost limit: Int, to writer: inout JSONWriter
    ) {
        let start = writer.count
        var left = cookies.count
        switch form {
        case .json, .changes:
            writer.key(form == .json ? "list" : "changes")
            writer.beginArray()
            for cookie in cookies {
                let before = writer.count
                write(cookie, to: &writer)
                guard writer.count - start <= limit else {
                    writer.rewind(to: before)
                    break
                }
                left -= 1
            }
            writer.endArray()
        case .netscape:
            var text = NetscapeCookies.text([])
            for cookie in cookies {
                let line = NetscapeCookies.line(cookie)
                // A byte takes up to six in JSON, but hardly ever more than two.
                guard (text.utf8.count + line.utf8.count) * 2 <= limit else { break }
                text += line
                left -= 1
            }
            writer.member("text", text)
        }
        if left > 0 { writer.member("left_out", left) }
    }
}
