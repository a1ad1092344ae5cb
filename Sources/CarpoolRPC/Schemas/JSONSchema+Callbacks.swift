internal import CarpoolJSON

// How a caller says that a client is to be asked. Each kind of callback has its own choice of what happens when no answer comes.
extension JSONSchema {
    /// The most bytes that the name of a callback has.
    static let callbackNameBytes = 64
    /// How long a client may take to answer, in milliseconds: up to ten minutes.
    static let callbackDeadline = JSONSchema.integer(1...600_000)
    /// The name of a callback.
    static let callbackName = JSONSchema.string(maxBytes: callbackNameBytes)

    /// What stands under `callback` where a client is to be asked.
    /// - Parameters:
    ///   - onFailure: what may happen when no answer comes; the first one is the default.
    ///   - extra: members that only this kind has.
    static func callback(onFailure: [StaticString], extra: Member...) -> JSONSchema {
        let standard = onFailure.first.map { " Absent: `\($0)`." } ?? ""
        return .object(
            [
                .required("name", callbackName, "The callback's name: 1 to 64 bytes, the client's own choice."),
                .optional("deadline_ms", callbackDeadline, "How long the client may take.", default: "10000"),
                .optional(
                    "on_failure", .choice(onFailure),
                    "What happens when no client can answer, or the answer is too late, an error or invalid.\(standard)"
                ),
            ] + extra)
    }

    /// A client that adapts requests, decides about retries, or both.
    static let interceptorCallback = JSONSchema.named(
        "InterceptorCallback",
        callback(
            onFailure: ["fail", "skip", "retry"],
            extra: .optional(
                "handles", .array(of: .choice("adapt", "retry"), count: 1...2), "What the client is asked.",
                default: "[\"adapt\",\"retry\"]")))

    /// A client that decides about redirects.
    static let redirectCallback = JSONSchema.named(
        "RedirectCallback", callback(onFailure: ["do_not_follow", "follow", "fail"]))

    /// A client that judges responses.
    static let validatorCallback = JSONSchema.named("ValidatorCallback", callback(onFailure: ["fail", "pass"]))

    /// A client that makes values of bodies, or changes their bytes first.
    static let serializerCallback = JSONSchema.named("SerializerCallback", callback(onFailure: ["fail", "none"]))

    /// A client that gives bodies.
    static let bodyCallback = JSONSchema.named("BodyCallback", callback(onFailure: ["fail"]))

    /// A client that gets new credentials.
    static let refresherCallback = JSONSchema.named("RefresherCallback", callback(onFailure: ["fail"]))
}
