internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// `cookies.*`: the jars of sessions.
struct CookieHandlers {
    let sessions: SessionService
    let requests: RequestService

    var table: [String: Handler] {
        [
            "cookies.list": list, "cookies.set": set, "cookies.remove": remove, "cookies.import": importCookies,
            "cookies.export": export,
        ]
    }

    private func jar(_ call: Call) throws(RPCError) -> CookieJar {
        let session = try sessions.session(call.params["session"], of: call.client)
        guard let jar = session.cookieJar else {
            throw RPCError(.wrongState, "session \(session.name) keeps no cookies").with("state", "valid")
                .with("expected", "a session whose configuration has cookies, such as {\"cookies\": {}}")
                .with("session", session.name)
        }
        return jar
    }

    private func list(_ call: Call) throws(RPCError) -> Answer {
        let jar = try jar(call)
        let (domain, name) = (call.params["domain"]?.string, call.params["name"]?.string)
        var shown =
            try call.params["url"]?.string.map { text throws(RPCError) in jar.sent(to: CookieTarget(try url(text))) }
            ?? jar.all()
        shown = shown.filter { CookieHandlers.matches($0, domain: domain, name: name, path: nil) }
        let page = ListPage(call)
        let rest = shown.dropFirst(try ListPage.place(of: call, radix: 10))
        let first = shown.count - rest.count
        return .result { writer in
            writer.beginObject()
            page.write("cookies", rest.enumerated(), to: &writer, name: { "\(first + $0.offset + 1)" }) {
                CookieWriter.writeListed($0.element, to: &$1)
            }
            writer.endObject()
        }
    }

    private func url(_ text: String) throws(RPCError) -> HTTPURL {
        do throws(TransportError) { return try HTTPURL(text) } catch {
            throw .invalidParams(path: "params.url", message: error.message, expected: "an http or https URL")
        }
    }

    private static func matches(_ cookie: Cookie, domain: String?, name: String?, path: String?) -> Bool {
        let isOfDomain = domain.map { CookieDomain.normalized($0) == cookie.domain }
        return isOfDomain ?? true && name ?? cookie.name == cookie.name && path ?? cookie.path == cookie.path
    }

    private func set(_ call: Call) throws(RPCError) -> Answer {
        let jar = try jar(call)
        guard let list = call.params["cookies"] else { return .result { $0.null() } }
        jar.add(try CookieReader.cookies(list, for: nil, path: "params.cookies"))
        return .result { writer in
            writer.beginObject()
            writer.member("cookies", jar.count)
            writer.endObject()
        }
    }

    private func remove(_ call: Call) throws(RPCError) -> Answer {
        let jar = try jar(call)
        let (domain, name, path) = (
            call.params["domain"]?.string, call.params["name"]?.string, call.params["path"]?.string
        )
        let removed = jar.remove { CookieHandlers.matches($0, domain: domain, name: name, path: path) }
        return .result { writer in
            writer.beginObject()
            writer.member("removed", removed)
            writer.member("cookies", jar.count)
            writer.endObject()
        }
    }

    private func importCookies(_ call: Call) throws(RPCError) -> Answer {
        let jar = try jar(call)
        let cookies = try CookieReader.read(call.params["text"]?.string ?? "", for: nil, path: "params.text")
        jar.add(cookies)
        return .result { writer in
            writer.beginObject()
            writer.member("imported", cookies.count)
            writer.member("cookies", jar.count)
            writer.endObject()
        }
    }

    // MARK: Export

    private func export(_ call: Call) throws(RPCError) -> Answer {
        let cookies = try exported(call)
        let page = ListPage(call)
        let place = try ListPage.place(of: call, radix: 10)
        let rest = cookies.dropFirst(place)
        guard call.params["format"]?.string == "json" else { return text(rest, at: place, page) }
        return .result { writer in
            writer.beginObject()
            page.write("list", rest.enumerated(), to: &writer, name: { "\(place + $0.offset + 1)" }) {
                CookieWriter.write($0.element, to: &$1)
            }
            writer.endObject()
        }
    }

    /// The cookies of a session, or of a request of the same client.
    private func exported(_ call: Call) throws(RPCError) -> [Cookie] {
        guard let id = call.params["request"]?.string else {
            guard call.params["session"] != nil else {
                throw .invalidParams(
                    path: "params.session", message: "missing", expected: "the name of a session, or request")
            }
            return try jar(call).all()
        }
        guard call.params["session"] == nil else {
            throw .invalidParams(
                path: "params.request", message: "there is a session already", expected: "either session or request")
        }
        let entry = try requests.entry(id, for: call.client)
        guard entry.client == call.client.identity, entry.request.isFinished,
            let cookies = entry.request.exportedCookies
        else {
            throw RPCError(.wrongState, "request \(id) has no cookies to export")
                .with("state", entry.request.state.rawValue)
                .with("expected", "a finished request with cookies.export, of the same client").with("request", id)
        }
        return cookies
    }

    /// A part of the text, of whole lines.
    private func text(_ cookies: ArraySlice<Cookie>, at place: Int, _ page: ListPage) -> Answer {
        var text = place == 0 ? NetscapeCookies.text([]) : ""
        var count = 0
        for cookie in cookies.prefix(page.limit) {
            let line = NetscapeCookies.line(cookie)
            guard count == 0 || (text.utf8.count + line.utf8.count) * 2 <= page.room else { break }
            text += line
            count += 1
        }
        return .result { writer in
            writer.beginObject()
            writer.member("text", text)
            writer.key("next")
            if count < cookies.count { writer.string("\(place + count)") } else { writer.null() }
            writer.endObject()
        }
    }
}
