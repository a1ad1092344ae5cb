internal import CarpoolHTTP

/// What a session does when an origin redirects. A pure decision: the response and the request in, the next step out.
public struct RedirectHandler: Sendable, Equatable {
    /// Whether redirects are followed at all; if not, the response that redirects is the final one.
    public var follows: Bool
    /// The most hops after the first.
    public var maximumHops: Int

    /// Follows up to 16 hops, as URLSession does.
    public static let follow = RedirectHandler(follows: true, maximumHops: 16)
    /// Gives the response that redirects to the caller.
    public static let doNotFollow = RedirectHandler(follows: false, maximumHops: 0)

    /// Makes a handler.
    public init(follows: Bool, maximumHops: Int) {
        self.follows = follows
        self.maximumHops = maximumHops
    }

    /// What comes after a response.
    enum Step {
        /// The response is the final one.
        case deliver
        /// The response redirects to there, and is the final one all the same.
        case decline(HTTPURL)
        /// This request comes next.
        case follow(TransportRequest)
        /// The request has failed.
        case fail(SessionError)
    }

    /// Fields that speak for one origin and are not shown to another (RFC 9110, section 15.4).
    private static let credentials: Set<String> = ["authorization", "cookie"]
    /// Fields that describe a body, and go with it.
    private static let content: Set<String> = [
        "content-type", "content-encoding", "content-language", "content-location",
    ]

    /// Decides (RFC 9110, sections 15.4.2 to 15.4.9): 303 makes everything but HEAD a GET, 301 and 302 make a POST a GET, 307 and 308 keep
    /// method and body; credentials stay with their origin; https is not left for http.
    func step(after head: ResponseHead, to request: TransportRequest, hop: Int) -> Step {
        guard let location = RedirectHandler.location(in: head) else { return .deliver }
        let target: HTTPURL
        do throws(TransportError) {
            target = try request.url.resolving(location)
        } catch {
            return follows ? .fail(.sessionTaskFailed(error)) : .deliver
        }
        guard follows else { return .decline(target) }
        guard hop <= maximumHops else { return .fail(.tooManyRedirects(maximumHops)) }
        guard request.url.origin.scheme != "https" || target.origin.scheme == "https" else {
            return .fail(.insecureRedirect(target.description))
        }
        return .follow(next(after: head.status, request, target))
    }

    private static func location(in head: ResponseHead) -> String? {
        switch head.status {
        case 301, 302, 303, 307, 308: head.fields.first("location")
        default: nil
        }
    }

    private func next(after status: Int, _ request: TransportRequest, _ target: HTTPURL) -> TransportRequest {
        var next = request
        next.url = target
        let becomesGet = status == 303 ? request.method != .head : status <= 302 && request.method == .post
        if becomesGet {
            next.method = .get
            next.body = .none
        }
        let leaves = target.origin != request.url.origin
        next.fields.removeAll { field in
            let name = field.name.lowercased()
            return (becomesGet && RedirectHandler.content.contains(name))
                || (leaves && RedirectHandler.credentials.contains(name))
                || (leaves && name == "host")
        }
        return next
    }
}
