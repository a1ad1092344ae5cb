public import CarpoolJSON

/// A call that the daemon makes to a client.
public struct CallbackDescription: Sendable {
    /// The method's name, `callback.verb`.
    public let name: String
    /// The request to the client, in one sentence.
    public let summary: String
    /// The details.
    public let description: String
    /// Its parameters, always by name. A later version may add some.
    public let params: [JSONSchema.Member]
    /// The schema of the answer; any other answer is invalid.
    public let result: JSONSchema
    /// At least one call with an answer.
    public let examples: [Method.Example]
}
