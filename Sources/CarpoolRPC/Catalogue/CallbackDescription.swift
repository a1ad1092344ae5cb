public import CarpoolJSON

/// A call that the daemon makes to a client.
public struct CallbackDescription: Sendable {
    /// The method's name, `callback.verb`.
    public let name: String
    /// What the client is asked, in one sentence.
    public let summary: String
    /// What one has to know of it.
    public let description: String
    /// Its parameters, always by name. A later version may add some.
    public let params: [JSONSchema.Member]
    /// What the client may answer; anything else counts as no answer.
    public let result: JSONSchema
    /// At least one question with an answer.
    public let examples: [Method.Example]
}
