internal import CarpoolHTTP
internal import CarpoolJSON
internal import CarpoolRPC
internal import CarpoolSession

/// Reads the cookies of calls. The values have passed the schema.
enum CookieReader {
    /// The member `cookies` of a session's configuration.
    static func settings(_ json: JSON, isEphemeral: Bool, path: String) throws(RPCError) -> CookieSettings {
        var settings = CookieSettings()
        if let accept = json["accept"]?.string.flatMap(CookieSettings.Accept.init(rawValue:)) {
            settings.accept = accept
        }
        settings.sends = json["send"]?.bool ?? true
        settings.isPersistent = json["persistent"]?.bool ?? false
        guard !settings.isPersistent || !isEphemeral else {
            throw .invalidParams(
                path: "\(path).persistent", message: "the session is ephemeral, and stores nothing on disk",
                expected: "false, or a session without ephemeral")
        }
        return settings
    }

    /// The parameter `cookies` of a request to a URL. An invalid URL has no cookies: it fails the request.
    static func request(_ json: JSON, url: String, path: String) throws(RPCError) -> RequestCookies {
        let target = (try? HTTPURL(url)).map { CookieTarget($0) }
        var cookies: [Cookie] = []
        if let text = json["import"]?.string {
            cookies = try read(
                text, for: target, withoutSessionCookies: json["drop_session_cookies"]?.bool ?? false,
                path: "\(path).import")
        }
        if let list = json["set"] {
            for cookie in try self.cookies(list, for: target, path: "\(path).set") { cookies.append(cookie) }
        }
        let export: RequestCookies.Export? =
            switch json["export"] {
            case let value? where value.bool == true: .netscape
            case let value?: value.string.flatMap(RequestCookies.Export.init(rawValue:))
            case nil: nil
            }
        return RequestCookies(cookies, export: export, place: json["place"]?.int)
    }

    /// The cookies of a text.
    static func read(
        _ text: String, for target: CookieTarget?, withoutSessionCookies: Bool = false, path: String
    ) throws(RPCError) -> [Cookie] {
        do throws(NetscapeCookies.Refusal) {
            return try NetscapeCookies.read(text, for: target, withoutSessionCookies: withoutSessionCookies)
        } catch {
            let isAboutLines = error == .tooManyLines
            throw .invalidParams(
                path: path, message: "there are too many \(isAboutLines ? "lines" : "cookies")",
                expected: isAboutLines
                    ? "at most \(NetscapeCookies.maximumLines) lines"
                    : "at most \(CookieJar.Limits.cookies) cookies")
        }
    }

    /// A list of cookies. Those without a domain are for the origin of the target.
    static func cookies(_ json: JSON, for target: CookieTarget?, path: String) throws(RPCError) -> [Cookie] {
        var cookies: [Cookie] = []
        for index in 0..<json.count {
            guard let item = json[index: index] else { continue }
            if let cookie = try cookie(item, for: target, path: "\(path)[\(index)]") { cookies.append(cookie) }
        }
        return cookies
    }

    private static func cookie(_ json: JSON, for target: CookieTarget?, path: String) throws(RPCError) -> Cookie? {
        let written = json["domain"]?.string
        guard written != nil || target != nil else { return nil }
        let domain = try written.map { text throws(RPCError) in try self.domain(text, path: "\(path).domain") }
        let isSuffix = domain.map(PublicSuffixes.contains) ?? false
        let isHostOnly = domain == nil || json["host_only"]?.bool ?? isSuffix
        if let domain, isSuffix, !isHostOnly {
            throw .invalidParams(
                path: "\(path).domain", message: "\(domain) is a public suffix, and below it are hosts of others",
                expected: "a domain of one owner, or host_only true")
        }
        let cookie = Cookie(
            name: json["name"]?.string ?? "", value: json["value"]?.string ?? "",
            domain: domain ?? target?.host ?? "", isHostOnly: isHostOnly, path: json["path"]?.string ?? "/",
            expires: json["expires"]?.int.map(Int64.init), isSecure: json["secure"]?.bool ?? false,
            isHTTPOnly: json["http_only"]?.bool ?? false,
            sameSite: json["same_site"]?.string.flatMap(Cookie.SameSite.init(rawValue:)),
            origin: domain == nil ? target?.origin : nil)
        if let problem = cookie.problem {
            throw .invalidParams(
                path: "\(path).\(problem.member)", message: problem.message, expected: problem.expected)
        }
        return cookie
    }

    private static func domain(_ text: String, path: String) throws(RPCError) -> String {
        guard let domain = CookieDomain.normalized(text) else {
            throw .invalidParams(
                path: path, message: "not a host: \(text.prefix(64).debugDescription)",
                expected: "a host name or address, such as example.com; of a name that is not ASCII its xn-- form")
        }
        return domain
    }
}
