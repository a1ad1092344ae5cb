internal import CarpoolJSON

// The members that name a callback. Each kind has its own choices for a call without a valid answer.
extension JSONSchema {
    /// The most bytes that the name of a callback has.
    static let callbackNameBytes = 64
    /// The time in which a client must answer, in milliseconds: up to ten minutes.
    static let callbackDeadline = JSONSchema.integer(1...600_000)
    /// The name of a callback.
    static let callbackName = JSONSchema.string(maxBytes: callbackNameBytes)

    /// The member `callback`, which names the client's function to call.
    /// - Parameters:
    ///   - onFailure: the choices for a call without a valid answer; the first one is the default.
    ///   - extra: members that only this kind has.
    static func callback(onFailure: [StaticString], extra: Member...) -> JSONSchema {
        .object(
            [
                .required("name", callbackName, "The callback's name: 1 to 64 bytes, chosen by the client."),
                .optional("deadline_ms", callbackDeadline, "The time for the client's answer.", default: "10000"),
                .optional(
                    "on_failure", .choice(onFailure),
                    "What happens when no client can answer, or the answer is too late, an error or invalid.",
                    default: onFailure.first.map { "\"\($0)\"" }),
            ] + extra)
    }

    /// A client that adapts requests, decides about retries, or both.
    static let interceptorCallback = JSONSchema.named(
        "InterceptorCallback",
        callback(
            onFailure: ["fail", "skip", "retry"],
            extra: .optional(
                "handles", .array(of: .choice("adapt", "retry"), count: 1...2),
                "The callbacks that the client receives: `callback.adapt`, `callback.retry` or both.",
                default: "[\"adapt\",\"retry\"]")))

    /// A client that decides about redirects.
    static let redirectCallback = JSONSchema.named(
        "RedirectCallback", callback(onFailure: ["do_not_follow", "follow", "fail"]))

    /// A client that validates responses.
    static let validatorCallback = JSONSchema.named("ValidatorCallback", callback(onFailure: ["fail", "pass"]))

    /// A client that makes values of bodies, or changes their bytes first.
    static let serializerCallback = JSONSchema.named("SerializerCallback", callback(onFailure: ["fail", "none"]))

    /// A client that makes bodies.
    static let bodyCallback = JSONSchema.named("BodyCallback", callback(onFailure: ["fail"]))

    /// A client that evaluates servers.
    static let trustCallback = JSONSchema.named("TrustCallback", callback(onFailure: ["fail"]))

    /// A client that answers challenges.
    static let challengeCallback = JSONSchema.named(
        "ChallengeCallback", callback(onFailure: ["fail", "default", "reject"]))

    /// A client that requests new credentials.
    static let refresherCallback = JSONSchema.named("RefresherCallback", callback(onFailure: ["fail"]))
}
