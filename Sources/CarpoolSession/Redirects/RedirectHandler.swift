internal import CarpoolHTTP

/// How a session handles redirects (RH-01 to RH-05). A pure decision: the response and the request in, the next step
/// out.
public struct RedirectHandler {
    /// How the next request is chosen.
    public enum Behaviour {
        /// By the rules of RFC 9110 (RH-01).
        case follow
        /// No redirect is followed: it is the final response (RH-02).
        case doNotFollow
        /// By the rules of RFC 9110, with a modification (RH-03).
        case modify(RedirectModification)
        /// By a decider that gets the request by the rules (RH-03).
        case ask(any RedirectDecider)
    }

    /// Which redirected requests keep `Authorization`.
    public enum Authorization: String, Sendable {
        /// None, as on the model's platform.
        case never
        /// Those to the same origin (RFC 9110, section 15.4).
        case sameOrigin = "same_origin"
        /// All. Only on explicit request.
        case always
    }

    /// How the next request is chosen.
    public var behaviour: Behaviour
    /// The most hops after the first; 16, as in the model.
    public var maximumHops = 16
    /// Whether 301, 302 and 303 keep method and body, as 307 and 308 do.
    public var keepsMethod = false
    /// Which redirected requests keep `Authorization`.
    public var authorization = Authorization.sameOrigin
    /// Whether a redirect from https to http is followed.
    public var allowsDowngrade = false
    /// Further names of fields that are removed for other origins, whatever their case.
    public var strippedFields: [String] = []
    /// Names of fields that are sent to every origin, although ``SecretNames`` has them. `Authorization` is not among
    /// them: see ``authorization``.
    public var keptFields: [String] = []

    /// Follows by the rules of RFC 9110, up to 16 hops.
    public static var follow: RedirectHandler { RedirectHandler(.follow) }
    /// Returns the redirect to the caller as the final response.
    public static var doNotFollow: RedirectHandler { RedirectHandler(.doNotFollow) }

    /// Makes a handler with the default limits.
    public init(_ behaviour: Behaviour) { self.behaviour = behaviour }

    /// The next step after a response. Indirect, because few responses need its payload and every request would carry
    /// its size.
    indirect enum Step {
        /// The response is the final one.
        case deliver
        /// The response redirects to this URL, and is the final one all the same.
        case decline(HTTPURL)
        /// Send this request next.
        case follow(TransportRequest)
        /// The decider chooses the next request, and gets the proposed one.
        case ask(any RedirectDecider, TransportRequest)
        /// The request has failed.
        case fail(SessionError)
    }

    /// Decides the next step. `hop` counts from 1, the first request.
    func step(after head: ResponseHead, to request: TransportRequest, hop: Int) -> Step {
        guard let location = RedirectHandler.location(in: head) else { return .deliver }
        let target: HTTPURL
        do throws(TransportError) {
            target = try RedirectHandler.target(location, from: request.url)
        } catch {
            // Without following, an invalid target does not matter.
            if case .doNotFollow = behaviour { return .deliver }
            return .fail(.sessionTaskFailed(error))
        }
        switch behaviour {
        case .doNotFollow: return .decline(target)
        case _ where hop > maximumHops: return .fail(.tooManyRedirects(maximumHops))
        case .ask(let decider): return .ask(decider, proposal(after: head.status, request, target))
        case .modify(let modification):
            guard modification.url != nil || allows(target, after: request.url) else {
                return .fail(.insecureRedirect(target.description))
            }
            return .follow(modification.apply(to: proposal(after: head.status, request, modification.url ?? target)))
        case .follow:
            guard allows(target, after: request.url) else { return .fail(.insecureRedirect(target.description)) }
            return .follow(proposal(after: head.status, request, target))
        }
    }

    /// Applies a decider's answer. Fields that it left as proposed follow the same rules as without a decider; those
    /// that it set are kept.
    func step(
        answer: TransportRequest?, target: HTTPURL, from request: TransportRequest, after head: ResponseHead
    ) -> Step {
        guard var next = answer else { return .decline(target) }
        guard next.url.description != target.description || allows(target, after: request.url) else {
            return .fail(.insecureRedirect(target.description))
        }
        let proposed = proposal(after: head.status, request, target)
        let isOwn = { (field: HTTPField) in
            !proposed.fields.contains { $0.hasName(field.name) && $0.value == field.value }
        }
        next.fields.removeAll { field in
            field.isNamed("host") || !isOwn(field) && strips(field, from: request.url, to: next.url)
        }
        // User information from the origin's own Location is not used.
        if next.url !== target { next.authorize(unless: isOwn) }
        if next.method != proposed.method, next.method == .get || next.method == .head { next.dropBody() }
        return .follow(next)
    }

    private static func location(in head: ResponseHead) -> String? {
        switch head.status {
        case 301, 302, 303, 307, 308: head.fields.firstReference("location")
        default: nil
        }
    }

    /// Resolves the reference; a target without a fragment inherits the one of the request (RFC 9110, section 10.2.2).
    private static func target(_ location: String, from url: HTTPURL) throws(TransportError) -> HTTPURL {
        let target = try url.resolving(location)
        guard !location.utf8.contains(UInt8(ascii: "#")),
            let fragment = url.description.utf8.firstIndex(of: UInt8(ascii: "#"))
        else { return target }
        return try HTTPURL(target.description + url.description[fragment...], encoding: url.encoding)
    }

    private func allows(_ target: HTTPURL, after url: HTTPURL) -> Bool {
        allowsDowngrade || url.origin.scheme != "https" || target.origin.scheme == "https"
    }

    /// Builds the next request by the rules (RFC 9110, sections 15.4.2 to 15.4.9): 303 makes everything but HEAD a
    /// GET, 301 and 302 make a POST a GET, 307 and 308 keep method and body; credentials stay with their origin.
    private func proposal(after status: Int, _ request: TransportRequest, _ target: HTTPURL) -> TransportRequest {
        var next = request
        next.url = target
        let becomesGet = status == 303 ? request.method != .head : status <= 302 && request.method == .post
        if becomesGet, !keepsMethod {
            next.method = .get
            next.dropBody()
        }
        next.fields.removeAll { $0.isNamed("host") || strips($0, from: request.url, to: target) }
        return next
    }

    /// Whether a field is removed from the next request, because it is a credential for the origin of the last one.
    /// `Proxy-Authorization` is never a field of a request.
    private func strips(_ field: HTTPField, from origin: HTTPURL, to target: HTTPURL) -> Bool {
        let isCrossOrigin = target.origin != origin.origin
        if isCrossOrigin, strippedFields.contains(where: field.hasName) { return true }
        guard field.isNamed("authorization") else {
            return isCrossOrigin && field.carriesSecret && !keptFields.contains(where: field.hasName)
        }
        switch authorization {
        case .never: return true
        case .sameOrigin: return isCrossOrigin
        case .always: return false
        }
    }
}

extension RedirectHandler: Equatable {
    /// Whether two handlers have the same settings.
    public static func == (left: RedirectHandler, right: RedirectHandler) -> Bool {
        let same =
            switch (left.behaviour, right.behaviour) {
            case (.follow, .follow), (.doNotFollow, .doNotFollow): true
            case (.ask(let one), .ask(let other)): one === other
            default: false
            }
        return same && left.maximumHops == right.maximumHops && left.keepsMethod == right.keepsMethod
            && left.authorization == right.authorization && left.allowsDowngrade == right.allowsDowngrade
            && left.strippedFields == right.strippedFields && left.keptFields == right.keptFields
    }
}

/// Decides about a redirect while the request waits: a client's callback, or a program's closure (RH-03).
public protocol RedirectDecider: AnyObject {
    /// Returns the request to send next, or `nil` for none: then the redirect is the final response. `proposed` is the
    /// request by the rules of RFC 9110. Answers once, now or later, on the session's loop.
    func redirect(
        _ request: Request, after response: ResponseHead, to proposed: TransportRequest,
        completion: @escaping (Result<TransportRequest?, SessionError>) -> Void)
}
