public import CarpoolJSON

/// The description of an event type, which the catalogue, the pages and the subscriptions use.
public struct EventDescription: Sendable {
    /// The type that the row describes.
    public let type: EventType
    /// The name on the wire, `noun.did_verb`.
    public let name: StaticString
    /// When the event is sent, in one sentence.
    public let summary: String
    /// The members of `data`.
    public let data: [JSONSchema.Member]
    /// Its number in the session model, or its numbers; `nil` for an event that the model does not have.
    public let model: String?
    /// An example of `data`, as JSON.
    public let example: String

    init(
        _ type: EventType, _ name: StaticString, _ model: String? = nil, _ summary: String,
        _ data: [JSONSchema.Member] = [], example: String = "{}"
    ) {
        self.type = type
        self.name = name
        self.model = model
        self.summary = summary
        self.data = data
        self.example = example
    }
}
