// A workgroup publishes a word to another one: the store of the flag is relaxed.
#version 450
#pragma use_vulkan_memory_model
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) nonprivate buffer Data { uint data; };
layout(set = 0, binding = 1) buffer Flag { uint flag; };
layout(set = 0, binding = 2) buffer Result { uint result; };

void main()
{
    if (gl_WorkGroupID.x == 0) {
        data = 42;
        atomicStore(flag, 1u, gl_ScopeQueueFamily, 0, 0);
    } else if (atomicLoad(flag, gl_ScopeQueueFamily, gl_StorageSemanticsBuffer,
                          gl_SemanticsAcquire | gl_SemanticsMakeVisible) == 1) {
        result = data;
    }
}
