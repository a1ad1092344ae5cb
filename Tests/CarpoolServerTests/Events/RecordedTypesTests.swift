import CarpoolRPC
@testable import CarpoolServer
import Testing

struct RecordedTypesTests {
    private func types(_ patterns: String...) -> EventTypeSet { EventTypeSet(patterns: patterns) }

    @Test("Without a reader no type is recorded")
    func nobody() {
        #expect(RecordedTypes().types.isEmpty)
    }

    @Test("A reader of one type has all types recorded, but for notifications and the steps of bodies")
    func usual() {
        var recorded = RecordedTypes()
        recorded.add(types("task.did_receive_response"), after: 3)
        for type in EventType.allCases {
            let isOptional = EventTypeSet.notifications.contains(type) || EventTypeSet.bodySteps.contains(type)
            #expect(recorded.types.contains(type) == !isOptional, "\(type.name)")
        }
        #expect(recorded.hasAll(of: types("request.did_finish", "pool.*"), after: 0))
    }

    @Test(
        "A group is recorded from the first reader of one of its types on",
        arguments: [
            ("task.did_receive_data", "task.*"), ("request.upload_progress", "*"),
            ("notification.did_finish", "notification.*"),
        ])
    func group(asked: String, resumed: String) {
        var recorded = RecordedTypes()
        recorded.add(types("request.did_finish"), after: 3)
        #expect(!recorded.hasAll(of: types(resumed), after: 100))
        recorded.add(types(asked), after: 7)
        recorded.add(types(asked), after: 9)
        #expect(recorded.types.contains(EventType.allCases.first { $0.name.description == asked } ?? .lagged))
        #expect(!recorded.hasAll(of: types(resumed), after: 6))
        #expect(recorded.hasAll(of: types(resumed), after: 7))
    }

    @Test("The groups are independent of each other")
    func independent() {
        var recorded = RecordedTypes()
        recorded.add(types("*"), after: 0)
        #expect(recorded.types.contains(.requestProgress))
        #expect(!recorded.types.contains(.notificationDidFinish))
        #expect(!recorded.hasAll(of: types("notification.*"), after: 5))
        #expect(recorded.hasAll(of: types("*"), after: 5))
    }
}
