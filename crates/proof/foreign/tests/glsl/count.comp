// Threads count in a buffer.
#version 450
layout(local_size_x = 2) in;
layout(set = 0, binding = 0) buffer Counter { uint counter; };

void main()
{
    counter++;
}
