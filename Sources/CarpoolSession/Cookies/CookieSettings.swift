/// How a session keeps cookies.
public struct CookieSettings: Equatable, Sendable {
    /// Which cookies are stored, as `HTTPCookieStorage.AcceptPolicy` of the model.
    public enum Accept: String, Sendable, CaseIterable {
        /// Those of every response.
        case always
        /// Those of responses from the site of the request's URL: not those of sites that it was redirected to.
        case sameSite = "same_site"
        /// None: the jar has what `cookies.set` and `cookies.import` have added.
        case never
    }

    /// Which cookies are stored.
    public var accept = Accept.always
    /// Whether requests are sent with the cookies.
    public var sends = true
    /// Whether the cookies that have an expiry date are stored on disk.
    public var isPersistent = false

    /// Makes settings with the defaults.
    public init() {}
}

/// The cookies of a request's own jar. An object, because every copy of a request's parameters has a reference to it.
public final class RequestCookies: Sendable {
    /// How the jar is shown in the request's record.
    public enum Export: String, Sendable {
        /// The text form of ``NetscapeCookies``.
        case netscape
        /// A list of objects.
        case json
        /// A list of the cookies that the responses have changed: see ``CookieJar/changes(since:)``.
        case changes
    }

    /// The cookies that the jar begins with.
    public let cookies: [Cookie]
    /// How the jar is shown in the record; `nil` if it is not.
    public let export: Export?
    /// Whether the request is over, and the cookies are what it exports.
    let isResult: Bool
    /// How many of the request's own fields come before the field `Cookie`; `nil` for all.
    let place: Int?

    /// Makes them from their parts.
    public init(_ cookies: [Cookie], export: Export? = nil, place: Int? = nil) {
        self.cookies = cookies
        self.export = export
        self.place = place
        isResult = false
    }

    /// Makes the cookies that a request exports when it is over.
    init(exporting cookies: [Cookie], as export: Export?) {
        self.cookies = cookies
        self.export = export
        place = nil
        isResult = true
    }

    /// The memory of the cookies in bytes.
    var memoryBytes: Int { cookies.reduce(0) { $0 &+ $1.memoryBytes } }
}
